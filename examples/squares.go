// Go: workers that take numbers from one channel and put squares into another.
package main

import (
	"fmt"
	"sync"
)

func main() {
	numbers, squares := make(chan int), make(chan int)

	var workers sync.WaitGroup
	for range 4 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for number := range numbers {
				squares <- number * number
			}
		}()
	}
	go func() {
		for number := 1; number <= 10; number++ {
			numbers <- number
		}
		close(numbers)
		workers.Wait()
		close(squares)
	}()

	sum := 0
	for square := range squares {
		sum += square
	}
	fmt.Println("the squares of 1 to 10 add up to", sum)
}
