module example.com/shop/money

go 1.23.0
