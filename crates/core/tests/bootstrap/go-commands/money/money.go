package money
