// Built by `cargo xtask clients`: the standard library alone takes longer to compile than a test may.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	authority, err := os.ReadFile("ca.pem")
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	client := &http.Client{Transport: transport}
	for _, target := range strings.Fields(os.Getenv("TARGETS")) {
		begun := time.Now()
		response, err := client.Get(target)
		switch {
		case err == nil:
			body, _ := io.ReadAll(response.Body)
			fmt.Println("reached", string(body))
		case time.Since(begun) < 3*time.Second:
			fmt.Println("refused")
		default:
			fmt.Println("late")
		}
	}
}
