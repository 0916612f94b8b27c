package sqs

import "github.com/portico-platform/portico/controllers/aws/attributes"

// Deleted finds queues that were kept.
var Deleted = attributes.Deleted(
	"sqs", attributes.Naming{List: Queues, Longest: longest, Name: "queueName", FIFO: "fifoQueue"})
