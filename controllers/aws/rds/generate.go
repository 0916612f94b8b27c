package rds

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"unicode"
)

// The lengths are those of the API reference of CreateDBInstance. What Portico generates fits the shortest of them.
const (
	shortest  = 8
	generates = 30
)

func longest(engineName string) int {
	switch family(engineName) {
	case "oracle":
		return 30
	case "mysql", "mariadb":
		return 41
	default:
		return 128
	}
}

// passwordProblem says what is wrong with a password, without showing it.
func passwordProblem(engineName, password string) string {
	bad := `/"@ `
	if family(engineName) == "oracle" {
		bad += "&'"
	}
	switch {
	case strings.HasSuffix(password, "\n"):
		return "it ends with a line break"
	case strings.ContainsAny(password, bad):
		return "it contains one of the characters that RDS does not take: " + strings.Join(strings.Split(bad, ""), " ") + "(space)"
	case strings.ContainsFunc(password, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }):
		return "it contains something other than printable ASCII characters"
	case len(password) < shortest || len(password) > longest(engineName):
		return fmt.Sprintf("it must have %d to %d characters", shortest, longest(engineName))
	}
	return ""
}

// The characters of generated passwords: of four classes, as SQL Server asks for, and none that an engine, a URL or a
// shell would take for something else.
const (
	letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
	numbers = "23456789"
	marks   = "-_"
)

// generatePassword returns a new password: about 170 bits.
func generatePassword() (string, error) {
	for {
		password, err := randomString(letters, 1) // some tools take a leading digit or mark for something else
		if err != nil {
			return "", err
		}
		rest, err := randomString(letters+numbers+marks, generates-1)
		if err != nil {
			return "", err
		}
		password += rest
		if strings.ContainsAny(password, numbers) && strings.ContainsAny(password, marks) &&
			strings.ToLower(password) != password && strings.ToUpper(password) != password {
			return password, nil
		}
	}
}

func randomString(alphabet string, count int) (string, error) {
	out := make([]byte, count)
	for at := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", fmt.Errorf("generate a password: %w", err)
		}
		out[at] = alphabet[n.Int64()]
	}
	return string(out), nil
}
