// Package dns has no DNS providers of ACME: not every module of theirs can be obtained everywhere.
package dns

import (
	"fmt"

	"github.com/go-acme/lego/v4/challenge"
)

// NewDNSChallengeProviderByName refuses every name.
func NewDNSChallengeProviderByName(name string) (challenge.Provider, error) {
	return nil, fmt.Errorf("the DNS provider %q is left out of this build", name)
}
