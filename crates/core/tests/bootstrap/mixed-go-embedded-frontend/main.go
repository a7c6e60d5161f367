package main

import "embed"

//go:embed all:web/dist
var files embed.FS

func main() {
	_ = files
}
