// A relying party in Go with the defaults of golang.org/x/oauth2 and coreos/go-oidc. It prints the address at which the
// person signs in, reads the address that the person was sent back to, and prints what it got, as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// Answers of the box, as the libraries give them.
type result struct {
	Claims    map[string]any `json:"claims"`
	UserInfo  map[string]any `json:"userinfo"`
	Refreshed bool           `json:"refreshed"`
	Renewed   map[string]any `json:"renewed"`
	Own       bool           `json:"own"`
}

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1], os.Args[2], os.Getenv("CLIENT_SECRET"), os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(issuer, id, secret, redirect string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return err
	}
	config := oauth2.Config{
		ClientID: id, ClientSecret: secret, RedirectURL: redirect, Endpoint: provider.Endpoint(),
		Scopes: []string{oidc.ScopeOpenID, oidc.ScopeOfflineAccess, "email", "groups"},
	}
	verifier := oauth2.GenerateVerifier()
	fmt.Println(config.AuthCodeURL("of the app", oidc.Nonce("n"), oauth2.S256ChallengeOption(verifier)))
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return err
	}
	back, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	token, err := config.Exchange(ctx, back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return err
	}
	var got result
	ids := provider.Verifier(&oidc.Config{ClientID: id})
	if got.Claims, err = claims(ctx, ids, token); err != nil {
		return err
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return err
	}
	if err := info.Claims(&got.UserInfo); err != nil {
		return err
	}
	old := *token
	old.Expiry = time.Now().Add(-time.Hour)
	renewed, err := config.TokenSource(ctx, &old).Token()
	if err != nil {
		return err
	}
	got.Refreshed = renewed.AccessToken != token.AccessToken
	if got.Renewed, err = claims(ctx, ids, renewed); err != nil {
		return err
	}
	own := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: provider.Endpoint().TokenURL}
	ownToken, err := own.Token(ctx)
	if err != nil {
		return err
	}
	got.Own = ownToken.Valid()
	return json.NewEncoder(os.Stdout).Encode(got)
}

// claims verifies the id_token of an answer.
func claims(ctx context.Context, ids *oidc.IDTokenVerifier, token *oauth2.Token) (map[string]any, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, fmt.Errorf("the answer has no id_token")
	}
	verified, err := ids.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, verified.Claims(&all)
}
