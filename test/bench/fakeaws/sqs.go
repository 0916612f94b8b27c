package fakeaws

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	jsonKind    = "application/x-amz-json-1.0"
	mostQueues  = 1000             // queues in a page of ListQueues
	deletedWait = 60 * time.Second // until the name of a deleted queue is free again
)

type queueKey struct{ region, name string }

type queue struct {
	created    time.Time
	attributes map[string]string
	tags       map[string]string
}

// sqsService holds queues, which hold no messages.
type sqsService struct {
	url string

	mu      sync.Mutex
	queues  map[queueKey]*queue
	deleted map[queueKey]time.Time
}

// sqsInput has the members of all supported requests.
type sqsInput struct {
	QueueName, QueueUrl, QueueOwnerAWSAccountId string //nolint:revive // SQS's spelling
	QueueNamePrefix, NextToken                  string
	MaxResults                                  *int
	Attributes                                  map[string]string
	AttributeNames                              []string
	// named "tags" in CreateQueue; encoding/json ignores case
	Tags    map[string]string
	TagKeys []string
}

func (s *sqsService) route(x *request) {
	_, x.operation, _ = strings.Cut(x.Header.Get("X-Amz-Target"), "AmazonSQS.")
	var in sqsInput
	if err := json.Unmarshal(x.body, &in); err != nil {
		x.do = func() answer { return jsonError("SerializationException", "", err.Error()) }
		return
	}
	x.resource = in.QueueName
	if in.QueueUrl != "" {
		x.resource = in.QueueUrl[strings.LastIndexByte(in.QueueUrl, '/')+1:]
	}
	key := queueKey{x.region, x.resource}
	x.do = func() answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch x.operation {
		case "CreateQueue":
			return s.create(key, in)
		case "ListQueues":
			return s.list(x.region, in)
		}
		q, owner := s.queues[key], in.QueueOwnerAWSAccountId
		if q == nil || (owner != "" && owner != AccountID) {
			return jsonError("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue",
				"The specified queue does not exist.")
		}
		return s.existing(x.operation, key, q, in)
	}
}

func (s *sqsService) existing(operation string, key queueKey, q *queue, in sqsInput) answer {
	switch operation {
	case "GetQueueUrl":
		return jsonAnswer(map[string]string{"QueueUrl": s.queueURL(key)})
	case "ListQueueTags":
		return jsonAnswer(map[string]any{"Tags": q.tags})
	case "GetQueueAttributes":
		return jsonAnswer(map[string]any{"Attributes": q.chosen(key, in.AttributeNames)})
	case "SetQueueAttributes":
		if refusal := checkAttributes(in.Attributes); refusal.code != "" {
			return refusal
		}
		maps.Copy(q.attributes, in.Attributes)
		maps.DeleteFunc(q.attributes, func(_, value string) bool { return value == "" })
	case "TagQueue":
		maps.Copy(q.tags, in.Tags)
	case "UntagQueue":
		for _, name := range in.TagKeys {
			delete(q.tags, name)
		}
	case "DeleteQueue":
		delete(s.queues, key)
		s.deleted[key] = time.Now()
	default:
		return jsonError("UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation",
			"Unsupported operation.")
	}
	return jsonAnswer(struct{}{})
}

func (s *sqsService) queueURL(key queueKey) string { return s.url + "/" + AccountID + "/" + key.name }

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,75}(\.fifo|[A-Za-z0-9_-]{0,5})$`)

// create serves CreateQueue. It also succeeds for an existing queue, whose tags stay, unless a given attribute differs.
func (s *sqsService) create(key queueKey, in sqsInput) answer {
	if !queueName.MatchString(in.QueueName) {
		return jsonError("InvalidParameterValue", "InvalidParameterValue",
			"Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	if refusal := checkAttributes(in.Attributes); refusal.code != "" {
		return refusal
	}
	if time.Since(s.deleted[key]) < deletedWait {
		return jsonError("QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently",
			"You must wait 60 seconds after deleting a queue before you can create another with the same name.")
	}
	q := s.queues[key]
	if q == nil {
		q = &queue{created: time.Now(), attributes: newAttributes(), tags: map[string]string{}}
		maps.Copy(q.attributes, in.Attributes)
		maps.Copy(q.tags, in.Tags)
		s.queues[key] = q
	}
	for name, value := range in.Attributes {
		if q.attributes[name] != value {
			return jsonError("QueueNameExists", "QueueAlreadyExists", "A queue already exists with the same name and "+
				"a different value for attribute "+name)
		}
	}
	return jsonAnswer(map[string]string{"QueueUrl": s.queueURL(key)})
}

// newAttributes returns the attributes of a queue created without any: the defaults in the API reference.
func newAttributes() map[string]string {
	return map[string]string{
		"DelaySeconds": "0", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
		"VisibilityTimeout": "30", "ReceiveMessageWaitTimeSeconds": "0", "SqsManagedSseEnabled": "true",
	}
}

var settable = []string{
	"ContentBasedDeduplication", "DeduplicationScope", "DelaySeconds", "FifoQueue", "FifoThroughputLimit",
	"KmsDataKeyReusePeriodSeconds", "KmsMasterKeyId", "MaximumMessageSize", "MessageRetentionPeriod", "Policy",
	"ReceiveMessageWaitTimeSeconds", "RedriveAllowPolicy", "RedrivePolicy", "SqsManagedSseEnabled", "VisibilityTimeout",
}

func checkAttributes(attributes map[string]string) answer {
	for name := range attributes {
		if _, known := slices.BinarySearch(settable, name); !known {
			return jsonError("InvalidAttributeName", "InvalidAttributeName", "Unknown Attribute "+name+".")
		}
	}
	return answer{}
}

func (q *queue) chosen(key queueKey, names []string) map[string]string {
	all := maps.Clone(q.attributes)
	stamp := strconv.FormatInt(q.created.Unix(), 10)
	maps.Copy(all, map[string]string{
		"QueueArn":         fmt.Sprintf("arn:aws:sqs:%s:%s:%s", key.region, AccountID, key.name),
		"CreatedTimestamp": stamp, "LastModifiedTimestamp": stamp, "ApproximateNumberOfMessages": "0",
		"ApproximateNumberOfMessagesDelayed": "0", "ApproximateNumberOfMessagesNotVisible": "0",
	})
	if !slices.Contains(names, "All") {
		maps.DeleteFunc(all, func(name, _ string) bool { return !slices.Contains(names, name) })
	}
	return all
}

// list serves ListQueues. Without MaxResults it returns one page and no token.
func (s *sqsService) list(region string, in sqsInput) answer {
	size, paged := mostQueues, in.MaxResults != nil
	if paged {
		if size = *in.MaxResults; size < 1 || size > mostQueues {
			return jsonError("InvalidParameterValue", "InvalidParameterValue",
				"MaxResults must be an integer between 1 and 1000")
		}
	}
	after, err := base64.StdEncoding.DecodeString(in.NextToken)
	if err != nil {
		return jsonError("InvalidParameterValue", "InvalidParameterValue", "Invalid or expired next token.")
	}
	var names []string
	for key := range s.queues {
		if key.region == region && key.name > string(after) && strings.HasPrefix(key.name, in.QueueNamePrefix) {
			names = append(names, key.name)
		}
	}
	slices.Sort(names)
	out := struct {
		QueueUrls []string `json:",omitempty"`
		NextToken string   `json:",omitempty"`
	}{}
	if len(names) > size {
		names = names[:size]
		if paged {
			out.NextToken = base64.StdEncoding.EncodeToString([]byte(names[size-1]))
		}
	}
	for _, name := range names {
		out.QueueUrls = append(out.QueueUrls, s.queueURL(queueKey{region, name}))
	}
	return jsonAnswer(out)
}

func jsonAnswer(value any) answer {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // our own types marshal
	}
	return answer{status: http.StatusOK, kind: jsonKind, body: body}
}

// jsonError returns an error with the shape's name, and with the code of SQS's former query protocol, which SDKs
// report.
func jsonError(shape, queryCode, message string) answer {
	a := jsonAnswer(map[string]string{"__type": "com.amazonaws.sqs#" + shape, "message": message})
	a.status, a.code = http.StatusBadRequest, shape
	if queryCode != "" {
		a.header = map[string]string{"X-Amzn-Query-Error": queryCode + ";Sender"}
	}
	return a
}
