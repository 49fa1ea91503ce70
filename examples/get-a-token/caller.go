package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

var client = http.Client{Timeout: 5 * time.Second}

var kept struct {
	sync.Mutex // calls at the same time share one request
	token      string
	renewAt    time.Time
}

func requestToken() (string, time.Duration, error) {
	form := strings.NewReader(url.Values{"grant_type": {"client_credentials"}}.Encode())
	request, err := http.NewRequest("POST", os.Getenv("BASE")+"/auth/token", form)
	if err != nil {
		return "", 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(os.Getenv("CLIENT_ID")), url.QueryEscape(os.Getenv("CLIENT_SECRET")))
	answer, err := client.Do(request)
	if err != nil {
		return "", 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		body, _ := io.ReadAll(answer.Body)
		return "", 0, fmt.Errorf("%s %s", answer.Status, body)
	}
	var told struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	err = json.NewDecoder(answer.Body).Decode(&told)
	return told.AccessToken, time.Duration(told.ExpiresIn) * time.Second, err
}

func token(refused string) (string, error) {
	kept.Lock()
	defer kept.Unlock()
	if kept.token == refused || time.Now().After(kept.renewAt) {
		token, life, err := requestToken()
		if err != nil {
			return "", err
		}
		kept.token, kept.renewAt = token, time.Now().Add(life*9/10)
	}
	return kept.token, nil
}

func callAPI(refused string) (string, error) {
	used, err := token(refused)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequest("GET", os.Getenv("API"), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+used)
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode == 401 && refused == "" {
		return callAPI(used) // the token was revoked
	}
	return answer.Status, nil
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if status, err := callAPI(""); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println(status)
		}
	}
}
