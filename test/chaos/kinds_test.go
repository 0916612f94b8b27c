package chaos

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/controllers"
)

// TestTemplatesAreSpecs checks that every template is a valid spec with any random choice.
func TestTemplatesAreSpecs(t *testing.T) {
	lot := rand.New(rand.NewPCG(1, 1))
	for _, k := range kinds {
		for _, template := range slices.Concat([]string{k.spec, k.mend}, k.edits, k.refused, k.astray) {
			if template == "" {
				continue
			}
			for range 20 {
				if _, err := specOf(fill(lot, template, "payments", k.slots[0], "Z1")); err != nil {
					t.Fatalf("%s %s: %v", k.name, template, err)
				}
			}
		}
	}
}

// notActedOn are the kinds that users do not create, CatalogEntry and DeployPolicy, which admins write once, and
// DatabaseUser, which needs a real database: the campaign has only the simulator's. TestLostAnswersLoseNothing and its
// neighbours interrupt DatabaseUser.
var notActedOn = []string{"CatalogEntry", "DatabaseUser", "DeployPolicy", "DomainClaim", "HostnameGrant", "PoolGateway"}

func TestEveryKindIsActedOn(t *testing.T) {
	for _, name := range controllers.Kinds() {
		if !slices.Contains(notActedOn, name) && !slices.ContainsFunc(kinds, func(k kind) bool {
			return k.name == name
		}) {
			t.Errorf("nobody does anything with a %s: add it to the table", name)
		}
	}
	for _, k := range kinds {
		_, known := (&account{}).services()[k.name]
		if known != (k.id != "") {
			t.Errorf("%s: an AWS kind %v, and services know it %v", k.name, k.id != "", known)
		}
	}
}

// TestASeedDrawsTheSame checks that the draw depends only on the seed.
func TestASeedDrawsTheSame(t *testing.T) {
	draw := func(seed uint64) (all []string) {
		for n := range uint64(50) {
			lot := rand.New(rand.NewPCG(seed, n))
			k := kinds[weighted(lot, len(kinds), func(i int) int { return kinds[i].weight })]
			all = append(all, k.name+fill(lot, k.spec, "payments", pick(lot, k.slots), "Z1"))
		}
		return all
	}
	if !slices.Equal(draw(7), draw(7)) || slices.Equal(draw(7), draw(8)) {
		t.Error("the seed does not decide")
	}
}

// TestTheLedgerKnowsWhatMayBeLeft checks that the policy of the last deletion decides what may be left.
func TestTheLedgerKnowsWhatMayBeLeft(t *testing.T) {
	l, k := newLedger(), kind{name: "SQSQueue", id: "queueName"}
	o := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{}, "status": map[string]any{"queueName": "q"}},
	}
	o.SetUID("1")
	say := func(policy string, now bool) {
		o.Object["spec"].(map[string]any)["deletionPolicy"] = policy
		l.deleting(k, o, now)
	}
	say("Retain", true)
	if !l.leaves("1") || l.isFree(resource{kind: "SQSQueue", id: "q"}) {
		t.Error("retained, and nothing may be left, or it needs no marks")
	}
	say("Delete", true)
	if l.leaves("1") {
		t.Error("deleted after all, and something may be left")
	}
	say("Orphan", false)
	if !l.leaves("1") || !l.isFree(resource{kind: "SQSQueue", id: "q"}) {
		t.Error("orphaned, and it may not be left")
	}
}

func parse(args ...string) (o options, err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	o.define(flags)
	return o, cmp.Or(flags.Parse(args), o.complete(time.Now()))
}

func TestSeedsAreNumbers(t *testing.T) {
	if o, err := parse("-seed", "12", "-duration", "1m"); err != nil || o.seed != 12 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"-seed", "x"}, {"-duration", "0"}, {"-rest", "1s"}} {
		if _, err := parse(args...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
	if o, err := parse("-seed", "found"); err != nil ||
		(len(found) > 0 && !slices.ContainsFunc(found, func(f finding) bool { return f.seed == o.seed })) {
		t.Errorf("%+v, %v", o, err)
	}
}
