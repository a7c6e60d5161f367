module example.com/shop/v2

go 1.23.0

toolchain go1.23.4

require (
	example.com/shop/money v0.0.0
	github.com/spf13/cobra v1.8.1
)

replace example.com/shop/money => ./money
