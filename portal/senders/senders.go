// Package senders says in sentences who can send to a queue, publish to a topic and use a bucket from outside of its
// AWS account, and where a topic and a bucket send.
package senders

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Sentence is one thing that an object opens. Two objects that open the same have equal sentences.
type Sentence struct {
	Opens  string // what can be done because the object says so
	Closes string // what no longer can once it does not; empty: nothing to say
}

// Of returns what an object opens; nothing for kinds that let nobody in, and for what cannot be read.
func Of(obj *unstructured.Unstructured) []Sentence {
	if obj == nil {
		return nil
	}
	_, all := whoCan(obj)
	switch obj.GetKind() {
	case v1alpha1.KindSNSTopic:
		t := &v1alpha1.SNSTopic{}
		if read(obj, t) {
			all = append(all, subscribed(t.Spec.Subscriptions)...)
		}
	case v1alpha1.KindS3Bucket:
		b := &v1alpha1.S3Bucket{}
		if read(obj, b) {
			all = slices.Concat(tls(b.Spec.RequireTLS), policy(b.Spec.Policy, b.Status.AccountID),
				notified(b.Spec.Notifications))
		}
	}
	return all
}

// whoCan returns what others can do with a queue or topic, send or publish, and who can; empty for other kinds.
func whoCan(obj *unstructured.Unstructured) (do string, who []Sentence) {
	switch obj.GetKind() {
	case v1alpha1.KindSQSQueue:
		q := &v1alpha1.SQSQueue{}
		if do = "send"; read(obj, q) {
			who = append(policy(q.Spec.Policy, q.Status.AccountID), allowed(q.Spec.AllowFrom, do)...)
		}
	case v1alpha1.KindSNSTopic:
		t := &v1alpha1.SNSTopic{}
		if do = "publish"; read(obj, t) {
			who = append(policy(t.Spec.Policy, t.Status.AccountID), allowed(t.Spec.AllowFrom, do)...)
		}
	}
	return do, who
}

func read(obj *unstructured.Unstructured, into any) bool {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, into) == nil
}

// Question returns what the page of an object asks, with the answer; empty for kinds that nobody sends to.
func Question(obj *unstructured.Unstructured) (question, answer string) {
	do, who := whoCan(obj)
	if do == "" {
		return "", ""
	}
	return "Who can " + do, answerOf(who)
}

// mostAnswered is how many sentences the page of an object has; its spec has all.
const mostAnswered = 5

func answerOf(all []Sentence) string {
	words := []string{"Everybody with that right in its AWS account."}
	for i, s := range all {
		if i == mostAnswered {
			words = append(words, "More are in the spec.")
			break
		}
		words = append(words, s.Opens)
	}
	return strings.Join(words, " ")
}

// allowed says who can do what because allowFrom names them.
func allowed(senders v1alpha1.Senders, do string) (all []Sentence) {
	for _, s := range senders {
		closes := " can no longer " + do + ": what it sends is dropped."
		switch {
		case s.TopicRef != nil:
			all = append(all, Sentence{
				"Anybody with access to topic " + s.TopicRef.Name + " can " + do + ".",
				"Topic " + s.TopicRef.Name + closes,
			})
		case s.BucketRef != nil:
			all = append(all, Sentence{
				"Bucket " + s.BucketRef.Name + " can " + do + " when its objects change.",
				"Bucket " + s.BucketRef.Name + closes,
			})
		default:
			who := s.ARN
			if s.Account != "" {
				who += " of AWS account " + s.Account
			}
			all = append(all, Sentence{"Anybody with access to " + who + " can " + do + ".", who + closes})
		}
	}
	return all
}

// policy says whom a policy lets in from outside of the account, which is empty as long as it is not known.
func policy(text, account string) (all []Sentence) {
	if text == "" {
		return nil
	}
	p, err := iampolicy.Parse(text)
	if err != nil {
		return nil
	}
	for _, who := range p.Outsiders(account) {
		if who == "*" {
			who = "everybody"
		}
		all = append(all, Sentence{"Its policy lets " + who + " in.", "Its policy no longer lets " + who + " in."})
	}
	return all
}

// subscribed says where what is published goes.
func subscribed(subscriptions []v1alpha1.SNSSubscription) (all []Sentence) {
	for _, s := range subscriptions {
		switch {
		case s.QueueRef != nil:
			all = append(all, Sentence{
				"Queue " + s.QueueRef.Name +
					" gets what is published, if it lets this topic send.",
				"Queue " + s.QueueRef.Name + " no longer gets what is published.",
			})
		case s.HTTPS != "":
			all = append(all, Sentence{
				"What is published goes to " + s.HTTPS + ", once that has confirmed it.",
				"What is published no longer goes to " + s.HTTPS + ".",
			})
		case s.Email != "":
			all = append(all, Sentence{
				"What is published goes to " + s.Email +
					" by mail, once somebody there has confirmed it.",
				"What is published no longer goes to " + s.Email + ".",
			})
		}
	}
	return all
}

// tls says whether a bucket answers requests that others can read on the way.
func tls(require *bool) []Sentence {
	switch {
	case require == nil:
		return nil
	case *require:
		return []Sentence{{Opens: "Requests without TLS are refused."}}
	}
	return []Sentence{{Opens: "Requests without TLS are answered: others can read on the way what is sent."}}
}

// notified says whom a bucket sends messages to.
func notified(notifications []v1alpha1.S3Notification) (all []Sentence) {
	for _, n := range notifications {
		var who string
		switch {
		case n.QueueRef != nil:
			who = "Queue " + n.QueueRef.Name
		case n.TopicRef != nil:
			who = "Topic " + n.TopicRef.Name
		}
		of := strings.Join(n.Events, ", ")
		if n.Prefix != "" {
			of += ", of keys that begin with " + n.Prefix
		}
		if n.Suffix != "" {
			of += ", of keys that end with " + n.Suffix
		}
		all = append(all, Sentence{who + " gets messages of " + of + ", if it lets this bucket send.", who +
			" no longer gets messages of " + of + "."})
	}
	return all
}
