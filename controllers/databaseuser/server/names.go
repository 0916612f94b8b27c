package server

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Maximum lengths of user names: PostgreSQL cuts names to 63 bytes, and MySQL refuses more than 32 characters.
const (
	longestPostgres = 63
	longestMySQL    = 32
)

const (
	namePrefix = "portico_"
	hashLength = 8
	turns      = "_a" // the suffix of a user after the account's name
)

// Name returns the name of an object's account: as much of the object's name as fits, and a hash of its namespace and
// name. It contains only letters, digits and underscores.
func Name(engineName, namespace, name string) string {
	longest := longestMySQL
	if engineName == postgres {
		longest = longestPostgres
	}
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	sum := sha256.Sum256([]byte(namespace + "/" + name))
	room := longest - len(namePrefix) - 1 - hashLength - len(turns)
	return namePrefix + readable[:min(room, len(readable))] + "_" + hex.EncodeToString(sum[:])[:hashLength]
}

// Mark returns the text that marks the account of an object in the database, where the server has a place for it.
func Mark(namespace, name string) string { return markPrefix + namespace + "/" + name }

// mark returns the mark of the account's users: their object, and how they sign in, because a user of one kind is never
// converted to the other.
func (a Account) mark() string { return a.Mark + authenticationField + a.authentication() }

const authenticationField = " authentication="

func (a Account) authentication() string {
	if a.IAM {
		return string(v1alpha1.AuthenticationIAM)
	}
	return string(v1alpha1.AuthenticationPassword)
}

// ours reports whether a mark is the account's, with or without further fields.
func (a Account) ours(mark string) bool {
	return mark == a.mark() || strings.HasPrefix(mark, a.mark()+" ")
}

// refuse returns an error that says why a user with this mark is not the account's.
func (a Account) refuse(name, mark string) error {
	if of, rest, ok := strings.Cut(mark, authenticationField); ok && of == a.Mark {
		other, _, _ := strings.Cut(rest, " ")
		return engine.Blocked(v1alpha1.ReasonAlreadyExists, "the database has a user %s that an object of this name "+
			"has left, with authentication: %s instead of %s, and nothing was changed; drop it as the master user, "+
			"or delete this object and request one with that authentication, or of another name",
			name, other, a.authentication())
	}
	return notOurs(name)
}

const markPrefix = "portico.dev/databaseuser="

// identifier quotes a name in standard SQL.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// backquoted quotes a name for MySQL.
func backquoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// pattern quotes the name of a database for GRANT, where MySQL treats _ and % as wildcards.
func pattern(database string) string {
	return backquoted(strings.NewReplacer(`\`, `\\`, `_`, `\_`, `%`, `\%`).Replace(database))
}

// literal quotes a text for PostgreSQL, whatever the setting of standard_conforming_strings.
func literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// mysqlLiteral quotes a text for MySQL, which refuses hexadecimal digits where it needs a string. It removes quotes,
// backslashes and NUL, which the callers' names, marks and passwords do not contain.
func mysqlLiteral(text string) string {
	return "'" + strings.NewReplacer(`\`, ``, `'`, ``, "\x00", ``).Replace(text) + "'"
}
