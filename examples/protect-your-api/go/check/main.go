package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var client = http.Client{Timeout: 2 * time.Second, CheckRedirect: refuseRedirect}

func statusFor(r *http.Request) int {
	ask, err := http.NewRequest("GET", os.Getenv("BOXGATE_URL")+"/auth/check?app=orders.example", nil)
	if err != nil {
		return 503
	}
	ask.Header.Set("Authorization", r.Header.Get("Authorization"))
	ask.Header.Set("X-Original-Method", r.Method)
	ask.Header.Set("X-Original-URI", r.URL.RequestURI())
	answer, err := client.Do(ask)
	if err != nil {
		log.Print(err)
		return 503
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case 200, 401, 403:
		return answer.StatusCode
	}
	log.Print("Boxgate answered ", answer.Status)
	return 503
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
