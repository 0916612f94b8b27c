package server

import (
	"context"
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestNamesFitAndDiffer(t *testing.T) {
	long := strings.Repeat("very-long-name.", 20)
	for engineName, longest := range map[string]int{
		postgres: longestPostgres, mysqlEngine: longestMySQL,
		mariadb: longestMySQL,
	} {
		seen := map[string]bool{}
		for _, of := range [][2]string{
			{"a", "b"},
			{"a", "c"},
			{"ab", "c"},
			{"a", "b-c"},
			{"a", "b.c"},
			{"a", long},
			{"b", long},
			{"a-b", "c"},
			{"a", "b'\"`\\"},
		} {
			name := Name(engineName, of[0], of[1])
			switch {
			case seen[name]:
				t.Errorf("%s: Name(%q) = %q, which another has", engineName, of, name)
			case len(name)+len(turns) > longest:
				t.Errorf("%s: Name(%q) = %q, want room for a turn in %d characters", engineName, of, name, longest)
			case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
				t.Errorf("%s: Name(%q) = %q, want lower case letters, digits and _", engineName, of, name)
			case !strings.HasPrefix(name, namePrefix):
				t.Errorf("%s: Name(%q) = %q, want the prefix %s", engineName, of, name, namePrefix)
			}
			seen[name] = true
		}
	}
	if got := Name(postgres, "payments", "shop-app"); got != "portico_shop_app_e4fc7cad" {
		t.Errorf("%s: a name must not change, or users would be left behind", got)
	}
}

func TestQuoting(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{identifier(`a"b`), `"a""b"`},
		{backquoted("a`b"), "`a``b`"},
		{pattern("my_db%`\\"), "`my\\_db\\%``\\\\`"},
		{literal("it's"), "'it''s'"},
		{literal(`a\'b`), ` E'a\\''b'`},
		{mysqlLiteral(`a\'b`), "'ab'"},
	} {
		if row.got != row.want {
			t.Errorf("%s, want %s", row.got, row.want)
		}
	}
}

// The verifier is from the example of RFC 7677, for the password pencil.
func TestTheVerifierIsThatOfTheStandard(t *testing.T) {
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	if err != nil {
		t.Fatal(err)
	}
	got, err := scramWith("pencil", salt, 4096)
	const want = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	if err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	if got := nativeHash("mypass"); got != "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4" {
		t.Errorf("MariaDB's hash: %s", got)
	}
}

// Statements that only RDS accepts are compared with its documentation.
func TestStatementsOfRDS(t *testing.T) {
	a := Account{Name: "portico_app_1", Mark: "portico.dev/databaseuser=payments/app", IAM: true}
	if got := strings.Join(createLogin(a, "portico_app_1_a"), "; "); !strings.HasSuffix(
		got, `; GRANT rds_iam TO "portico_app_1_a"; ALTER ROLE "portico_app_1_a" LOGIN`) ||
		strings.Contains(got, "PASSWORD") {
		t.Error(got)
	}
	before, after := join(a, "portico_app_1_a")
	if want := []string{
		`REVOKE rds_iam FROM "portico_app_1_a"`,
		`GRANT "portico_app_1_a" TO CURRENT_USER`,
	}; !slices.Equal(before, want) {
		t.Errorf("%q: the master user must never be in rds_iam, or it is locked out", before)
	}
	if want := []string{
		`REVOKE "portico_app_1_a" FROM CURRENT_USER`,
		`GRANT rds_iam TO "portico_app_1_a"`,
	}; !slices.Equal(after, want) {
		t.Errorf("%q", after)
	}
	if got := createIAM(dialect{}, a, "portico_app_1_a"); got != "CREATE USER 'portico_app_1_a'@'%' IDENTIFIED WITH "+
		"AWSAuthenticationPlugin AS 'RDS'" {
		t.Error(got)
	}
	if got := createIAM(dialect{attributes: true}, a, "x"); !strings.HasSuffix(
		got, ` AS 'RDS' ATTRIBUTE '{"portico": "portico.dev/databaseuser=payments/app authentication=IAM"}'`) {
		t.Error(got)
	}
	if len(a.Logins()) != 1 || a.Other(a.Logins()[0]) != a.Logins()[0] {
		t.Errorf("%q", a.Logins())
	}
}

// A user that an object of the same name left with the other authentication is not adopted: the error names that
// authentication.
func TestAMarkTellsHowTheUserSignsIn(t *testing.T) {
	password, iam := Account{Name: "n", Mark: "portico.dev/databaseuser=a/b", Access: v1alpha1.AccessRead},
		Account{Name: "n", Mark: "portico.dev/databaseuser=a/b", IAM: true}
	if !password.ours(password.comment()) || !password.ours(password.mark()) {
		t.Errorf("ours() of %q, %q = false, want true", password.comment(), password.mark())
	}
	if !iam.ours(iam.comment()) {
		t.Errorf("ours() of %q = false, want true", iam.comment())
	}
	for _, mark := range []string{
		"", "portico.dev/databaseuser=a/b",
		"portico.dev/databaseuser=a/bc authentication=Password", password.mark() + "s", iam.comment(),
	} {
		if password.ours(mark) {
			t.Errorf("it takes %q", mark)
		}
	}
	if got := password.refuse("n_a", iam.comment()).Error(); !strings.Contains(
		got, "authentication: IAM instead of Password") {
		t.Error(got)
	}
	if got := password.refuse("n_a", "portico.dev/databaseuser=a/c authentication=IAM").Error(); strings.Contains(
		got, "instead of") {
		t.Error(got)
	}
}

// MySQL gets the password itself, and omits it from its logs; MariaDB gets the hash that it stores.
func TestPasswordsInMySQL(t *testing.T) {
	if got := identified(dialect{}, "Secret-2"); got != " IDENTIFIED BY 'Secret-2'" {
		t.Error(got)
	}
	if got := identified(dialect{mariadb: true}, "Secret-2"); !strings.HasPrefix(
		got, " IDENTIFIED VIA mysql_native_password USING '*") || strings.Contains(got, "Secret") {
		t.Error(got)
	}
}

func TestDialects(t *testing.T) {
	for version, want := range map[string]dialect{
		"8.0.43": {attributes: true}, "8.4.6": {attributes: true}, "8.0.20": {}, "5.7.44-rds": {}, "10.11.14-MariaDB-log": {mariadb: true}, "?": {},
	} {
		if got := dialectOf(version); got != want {
			t.Errorf("%s: %+v", version, got)
		}
	}
}

func TestOnlyWhatDiffersIsChanged(t *testing.T) {
	all := []right{
		{who: "g", on: "TABLE public.old", has: []string{"SELECT", "TRUNCATE"}, ask: objectRights["TABLE"][v1alpha1.AccessReadWrite]},
		{who: "g", on: "TABLES", maker: `m"`, ask: []string{"SELECT"}},
		{who: "g", on: "SCHEMA public", has: []string{"USAGE"}, ask: []string{"USAGE"}},
	}
	want := []string{
		`REVOKE TRUNCATE ON TABLE public.old FROM "g"`,
		`GRANT INSERT, UPDATE, DELETE, REFERENCES ON TABLE public.old TO "g"`,
		`ALTER DEFAULT PRIVILEGES FOR ROLE "m""" GRANT SELECT ON TABLES TO "g"`,
	}
	if got := differences(all); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := mysqlDifferences("my_db", "u", mysqlRights[v1alpha1.AccessRead],
		[]string{"USAGE", "SELECT", "DROP"}); !slices.Equal(got, []string{
		"REVOKE DROP ON `my\\_db`.* FROM 'u'@'%'", "GRANT SHOW VIEW ON `my\\_db`.* TO 'u'@'%'",
	}) {
		t.Errorf("%q", got)
	}
}

// Every access has rights in every table of rights, and none has one that ReadWrite lacks.
func TestEveryAccessHasRights(t *testing.T) {
	for sort, byAccess := range objectRights {
		for _, access := range []v1alpha1.BindingAccess{
			v1alpha1.AccessRead, v1alpha1.AccessWrite, v1alpha1.AccessReadWrite,
		} {
			if len(byAccess[access]) == 0 || len(missing(byAccess[access], byAccess[v1alpha1.AccessReadWrite])) > 0 {
				t.Errorf("%s by %s: %q", sort, access, byAccess[access])
			}
		}
	}
	for access, rights := range mysqlRights {
		if slices.Contains(rights, "GRANT OPTION") || slices.Contains(rights, "FILE") ||
			len(missing(rights, mysqlRights[v1alpha1.AccessReadWrite])) > 0 {
			t.Errorf("%s: %q", access, rights)
		}
	}
}

func TestAddressesAtWhichNoDatabaseIs(t *testing.T) {
	for address, refused := range map[string]bool{
		"10.0.0.7:5432": false, "[2600:1f14::1]:5432": false, "172.31.5.5:3306": false,
		"127.0.0.1:5432": true, "[::1]:5432": true, "[::ffff:127.0.0.1]:5432": true, "169.254.169.254:80": true,
		"169.254.170.23:80": true, "[::ffff:169.254.169.254]:80": true,
		"[fe80::1]:80": true, "[fd00:ec2::254]:80": true, "[fd00:ec2::23]:80": true, "0.0.0.0:1": true, "[::]:1": true,
		"224.0.0.1:1": true, "nonsense": true,
	} {
		if err := (Dialer{}).allowed(context.Background(), "", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
		ip, bad := netip.ParseAddrPort(address)
		if err := (Dialer{Loopback: true}).allowed(context.Background(), "", address, nil); bad == nil &&
			(err == nil) != (!refused || ip.Addr().Unmap().IsLoopback()) {
			t.Errorf("%s, with loopback: %v", address, err)
		}
	}
}
