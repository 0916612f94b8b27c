package server

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // MySQL's protocol has it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/portico-platform/portico/controllers/password"
)

const (
	scramIterations = 4096 // PostgreSQL's default; the passwords are random, so more iterations would protect nothing
	scramSalt       = 16
)

// scramVerifier returns the form in which PostgreSQL stores a password: somebody who reads the statement, for example
// in a log, cannot sign in with it. Our passwords contain only letters, digits, - and _, which SASLprep leaves
// unchanged.
func scramVerifier(secret Password) (string, error) {
	salt := make([]byte, scramSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("make a salt: %w", err)
	}
	return scramWith(secret, salt, scramIterations)
}

func scramWith(secret Password, salt []byte, iterations int) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, string(secret), salt, iterations, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("derive a key: %w", err)
	}
	client := sha256.Sum256(mac(salted, "Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, encode(salt), encode(client[:]),
		encode(mac(salted, "Server Key"))), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// nativeHash returns the hash of a password that MariaDB stores.
func nativeHash(secret Password) string {
	first := sha1.Sum([]byte(secret)) //nolint:gosec // MySQL's protocol has it; the password is random
	second := sha1.Sum(first[:])      //nolint:gosec // the same
	return "*" + strings.ToUpper(hex.EncodeToString(second[:]))
}

// passwordLength is the length of generated passwords in characters: about 180 bits.
const passwordLength = 32

// NewPassword returns a new password for a user.
func NewPassword() (Password, error) {
	text, err := password.New(passwordLength)
	return Password(text), err
}

// Made reports whether the password has the form of a generated one.
func (p Password) Made() bool { return password.Made(string(p), passwordLength) }
