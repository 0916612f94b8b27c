package wire

import (
	"context"
)

// Delivery is a permission to deliver messages from a topic or bucket to a queue or topic, by ARNs.
type Delivery struct{ From, To string }

// Sender is a service that sends on behalf of one of its resources.
type Sender struct {
	Service string // the service's principal
	ARN     string // of the topic, bucket or rule
	Account string // owner of the ARN
}

// TopicSender returns SNS as the sender for a topic.
func TopicSender(arn string) Sender {
	return Sender{Service: "sns.amazonaws.com", ARN: arn, Account: SplitARN(arn).Account}
}

// Deliveries opens the ways of messages during a call.
type Deliveries interface {
	// AllowDelivery makes moto deliver what a sender sends during the call, if the receiver allows it.
	AllowDelivery(ctx context.Context, x *Exchange, s Sender, to string) error
	// AllowFromTopic makes moto deliver what is published to the topic during the call to the queues that allow it.
	AllowFromTopic(ctx context.Context, x *Exchange, topicARN string) error
}
