package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

var client = http.Client{Timeout: 2 * time.Second}
var needed = map[string]string{"GET": "orders:read", "HEAD": "orders:read", "POST": "orders:write"}

func statusFor(r *http.Request) int {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return 401
	}
	body := strings.NewReader(url.Values{"token": {token}}.Encode())
	ask, err := http.NewRequest("POST", os.Getenv("BOXGATE_URL")+"/auth/introspect", body)
	if err != nil {
		return 503
	}
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	ask.SetBasicAuth(url.QueryEscape(os.Getenv("CLIENT_ID")), url.QueryEscape(os.Getenv("CLIENT_SECRET")))
	answer, err := client.Do(ask)
	if err != nil {
		log.Print(err)
		return 503
	}
	defer answer.Body.Close()
	var told struct {
		Active bool
		Aud    []string
		Scope  string
	}
	if answer.StatusCode != 200 || json.NewDecoder(answer.Body).Decode(&told) != nil {
		log.Print("Boxgate answered ", answer.Status)
		return 503
	}
	if !told.Active || !slices.Contains(told.Aud, os.Getenv("AUDIENCE")) {
		return 401
	}
	if !slices.Contains(strings.Fields(told.Scope), needed[r.Method]) {
		return 403
	}
	return 200
}

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := statusFor(r)
		if status == 401 {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		w.WriteHeader(status)
		if status == 200 {
			io.WriteString(w, `[{ "order": 7 }]`)
		}
	})))
}
