package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

var client = http.Client{Timeout: 2 * time.Second}
var needed = map[string]string{"GET": "orders:read", "HEAD": "orders:read", "POST": "orders:write"}

var cached struct {
	sync.Mutex
	keys   jose.JSONWebKeySet
	readAt time.Time
}

// boxKeys returns the keys of the box, which it reads again after five minutes.
func boxKeys() (jose.JSONWebKeySet, error) {
	cached.Lock()
	keys, age := cached.keys, time.Since(cached.readAt)
	cached.Unlock() // no other request waits while the keys are read
	if age < 5*time.Minute {
		return keys, nil
	}
	answer, err := client.Get(os.Getenv("BOXGATE_URL") + "/.well-known/jwks.json")
	if err != nil {
		return keys, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 || json.NewDecoder(answer.Body).Decode(&keys) != nil {
		return keys, fmt.Errorf("Boxgate answered %s", answer.Status)
	}
	cached.Lock()
	defer cached.Unlock()
	cached.keys, cached.readAt = keys, time.Now()
	return keys, nil
}

func statusFor(r *http.Request) int {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.ES256})
	if !strings.EqualFold(scheme, "Bearer") || err != nil || token.Headers[0].ExtraHeaders["typ"] != "at+jwt" {
		return 401
	}
	keys, err := boxKeys()
	if err != nil {
		log.Print(err)
		return 503
	}
	var claims jwt.Claims
	var granted struct {
		Scope string `json:"scope"`
	}
	expected := jwt.Expected{Issuer: os.Getenv("ISSUER"), AnyAudience: jwt.Audience{os.Getenv("AUDIENCE")}}
	if token.Claims(keys, &claims, &granted) != nil || claims.Expiry == nil || claims.ValidateWithLeeway(expected, 0) != nil {
		return 401 // Validate would take a token for a minute longer
	}
	if !slices.Contains(strings.Fields(granted.Scope), needed[r.Method]) {
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
