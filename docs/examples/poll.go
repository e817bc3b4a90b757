// Prints the listing every two seconds: go run poll.go [COUNT]
// BASE_URL is the address of the API, SERVER_LISTING_KEY an API key.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	attemptsMax = 5
	waitMax     = 30 * time.Second
)

// Server has the fields that this program needs. A pointer is nil for null.
type Server struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Address string  `json:"address"`
	Version *string `json:"version"`
}

var (
	client  = &http.Client{Timeout: 10 * time.Second}
	url     = strings.TrimRight(strings.TrimSpace(os.Getenv("BASE_URL")), "/") + "/v1/servers"
	key     = strings.TrimSpace(os.Getenv("SERVER_LISTING_KEY"))
	pattern = regexp.MustCompile("^svc_live_[0-9a-f]{64}$")
)

// loadServers asks until the list comes, at most attemptsMax times.
func loadServers() ([]Server, error) {
	wait := time.Second
	for attempt := 1; ; attempt++ {
		servers, retryAfter, err := ask()
		if err == nil || retryAfter < 0 || attempt == attemptsMax {
			return servers, err
		}
		// 1, 2, 4 … seconds, and never less than Retry-After.
		if retryAfter > wait {
			time.Sleep(retryAfter)
		} else {
			time.Sleep(wait)
		}
		if wait *= 2; wait > waitMax {
			wait = waitMax
		}
	}
}

// ask sends one request. After an error that stays, the second result is negative.
func ask() ([]Server, time.Duration, error) {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return nil, -1, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		var listing struct{ Servers []Server }
		err = json.NewDecoder(answer.Body).Decode(&listing)
		return listing.Servers, 0, err
	case 408, 429, 502, 503:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return nil, time.Duration(seconds) * time.Second, fmt.Errorf("the API answered %s", answer.Status)
	default:
		return nil, -1, fmt.Errorf("the API answered %s", answer.Status)
	}
}

func main() {
	if !pattern.MatchString(key) {
		fmt.Fprintln(os.Stderr, "SERVER_LISTING_KEY must be svc_live_ and 64 hexadecimal digits")
		os.Exit(2)
	}
	left := -1
	if len(os.Args) > 1 {
		left, _ = strconv.Atoi(os.Args[1])
	}
	for ; left != 0; left-- {
		servers, err := loadServers()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, server := range servers {
			fmt.Println(server.Name, server.Address)
		}
		if left != 1 {
			time.Sleep(2 * time.Second)
		}
	}
}
