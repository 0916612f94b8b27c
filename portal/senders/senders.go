// Package senders describes in sentences who can send to a queue, publish to a topic and use a bucket from outside its
// AWS account, and where a topic and a bucket send messages.
package senders

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Sentence describes one access that an object's spec allows. Two specs that allow the same have equal sentences.
type Sentence struct {
	Opens  string // for a spec that allows it
	Closes string // for a spec that no longer does; can be empty
}

// Of returns the sentences about an object: none for kinds that grant no access, or if the object cannot be decoded.
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

// whoCan returns what others can do with a queue ("send") or a topic ("publish"), and who can. Both are empty for other
// kinds.
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

// Question returns the question on an object's page about who can send to it, and the answer; empty for kinds that do
// not receive.
func Question(obj *unstructured.Unstructured) (question, answer string) {
	do, who := whoCan(obj)
	if do == "" {
		return "", ""
	}
	return "Who can " + do, answerOf(who)
}

// mostAnswered bounds the sentences on an object's page; the spec has all of it.
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

// allowed returns who can do that because of allowFrom.
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

// policy returns who has access by a policy from outside the account. account is empty while it is not known.
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

// subscribed returns where a topic delivers its messages.
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

// tls returns whether a bucket answers requests without TLS; nothing if the spec does not say.
func tls(require *bool) []Sentence {
	switch {
	case require == nil:
		return nil
	case *require:
		return []Sentence{{Opens: "Requests without TLS are refused."}}
	}
	return []Sentence{{Opens: "Requests without TLS are answered: others can read on the way what is sent."}}
}

// notified returns where a bucket sends notifications.
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
