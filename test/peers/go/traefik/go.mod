module boxgate.dev/test/peers/traefik

go 1.24.0

require (
	github.com/abbot/go-http-auth v0.4.1-0.20220112235402-e1cee1c72f2f
	github.com/go-acme/lego/v4 v4.33.0
	github.com/traefik/traefik/v3 v3.6.12
)
