"""moto's server, with what the proxy before it (test/awsproxy) cannot do from outside.

moto delivers messages while it serves the call that sends them: Publish to queues, PutObject to queues and topics. AWS asks the
policy of each receiver first, and drops what it does not let in. The proxy knows how AWS evaluates policies, so it decides, and tells
by a header of the call which ways are open: "source>destination", by ARNs. All others are closed. Here is nothing but that a
closed way is not taken, and what moto forgets or mixes up on the way:

- messages go to the account of the receiver's ARN, not to that of the sender;
- what an endpoint has to confirm is pending until it is (SNS's guide, "Subscription confirmation");
- a policy is kept as it was given, and by other changes of a queue;
- bucket policies are judged by the proxy only;
- events of S3 are as "Event message structure" of its guide has them.

A delivery by the proxy itself would need SNS's filters and envelope, and S3's events, a second time.
"""

import importlib
import json
import sys
import uuid
from base64 import b32encode
from collections import Counter
from functools import lru_cache
from hashlib import sha256
from urllib.parse import quote_plus, urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import has_request_context, request
from moto.core.responses import ActionResult
from moto.core.utils import iso_8601_datetime_with_milliseconds
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.kms import models as kms_models
from moto.kms import utils as kms_utils
from moto.iam.access_control import PermissionResult
from moto.moto_api._internal import urls as api_urls
from moto.route53.models import HostedZoneIdentifier
from moto.s3 import models as s3_models
from moto.s3 import notifications
from moto.s3.models import FakeBucket, S3Backend
from moto.s3.responses import S3Response
from moto.sns import sns_backends
from moto.sns.exceptions import SNSInvalidParameter
from moto.sns.models import SNSBackend, Subscription, Topic
from moto.sns.responses import SNSResponse
from moto.sqs import sqs_backends
from moto.sqs.exceptions import QueueDoesNotExist
from moto.sqs.models import Queue

CONFIRMED_BY_ENDPOINT = ("http", "https", "email", "email-json")


def header(name):
    return request.headers.get(name, "") if has_request_context() else ""


def is_open(source, destination):
    return f"{source}>{destination}" in header("X-Portico-Deliver").split()


def replaces(owner, name):
    """Puts a function in the place of a method, and passes it the method as its first argument."""
    original = getattr(owner, name)

    def decorate(function):
        def replacement(*args, **kwargs):
            return function(original, *args, **kwargs)

        setattr(owner, name, replacement)
        return function

    return decorate


# Topics

# A copy, for other threads subscribe and unsubscribe meanwhile.
SNSBackend._get_topic_subscriptions = lambda self, topic: [s for s in list(self.subscriptions.values()) if s.topic == topic]


@replaces(SNSBackend, "subscribe")
def subscribe(original, self, topic_arn, endpoint, protocol):
    before = self._find_subscription(topic_arn, endpoint, protocol)
    subscription = original(self, topic_arn, endpoint, protocol)
    if before is not None:
        return subscription
    caller = header("X-Portico-Caller") or self.account_id
    subscription.owner = subscription.attributes["Owner"] = caller
    pending = protocol in CONFIRMED_BY_ENDPOINT
    if protocol == "sqs":
        subscription.account_id = endpoint.split(":")[4]
        pending = subscription.account_id != caller
    if pending:
        subscription.attributes["PendingConfirmation"] = True
        subscription.attributes["ConfirmationWasAuthenticated"] = False
        subscription.token = uuid.uuid4().hex
        ask_to_confirm(subscription)
    return subscription


def is_pending(subscription):
    return bool(subscription.attributes.get("PendingConfirmation"))


def ask_to_confirm(subscription):
    topic = subscription.topic.arn
    if subscription.protocol != "sqs" or not is_open(topic, subscription.endpoint):
        return
    text = "You have chosen to subscribe to the topic %s.\nTo confirm the subscription, visit the SubscribeURL included in this message."
    region = topic.split(":")[3]
    body = {
        "Type": "SubscriptionConfirmation",
        "MessageId": str(uuid.uuid4()),
        "Token": subscription.token,
        "TopicArn": topic,
        "Message": text % topic,
        "SubscribeURL": f"https://sns.{region}.amazonaws.com/?Action=ConfirmSubscription&TopicArn={topic}&Token={subscription.token}",
        "Timestamp": iso_8601_datetime_with_milliseconds(),
    }
    send(subscription.endpoint, json.dumps(body, indent=2))


def send(queue_arn, body):
    """Sends to a queue, if it is there."""
    _, _, _, region, account, name = queue_arn.split(":")
    try:
        sqs_backends[account][region].send_message(name, body)
    except QueueDoesNotExist:
        pass


@replaces(Subscription, "publish")
def publish(original, self, message, *args, **kwargs):
    if kwargs.get("message_structure") == "json":
        self._parse_message_structure(message, self.protocol)  # refused whoever would get it
    if is_pending(self):
        return
    if self.protocol == "sqs" and not is_open(self.topic.arn, self.endpoint):
        return
    if self.protocol in ("http", "https") and urlsplit(self.endpoint).hostname not in ("127.0.0.1", "localhost"):
        return  # no message leaves the machine
    try:
        original(self, message, *args, **kwargs)
    except (QueueDoesNotExist, OSError):
        pass


@replaces(SNSBackend, "unsubscribe")
def unsubscribe(original, self, subscription_arn):
    subscription = self.subscriptions.get(subscription_arn)
    if subscription_arn.count(":") < 6:
        raise SNSInvalidParameter("Invalid parameter: SubscriptionArn Reason: An ARN must have at least 6 elements, not 1")
    if subscription is not None and is_pending(subscription):
        raise SNSInvalidParameter("Invalid parameter: Cannot unsubscribe a subscription that is pending confirmation")
    original(self, subscription_arn)


@replaces(SNSResponse, "subscribe")
def subscribe_response(original, self):
    result = original(self)
    subscription = self.backend.subscriptions[result.result["SubscriptionArn"]]
    if is_pending(subscription) and not self._get_param("ReturnSubscriptionArn"):
        return ActionResult({"SubscriptionArn": "pending confirmation"})
    return result


@replaces(SNSResponse, "list_subscriptions")
def list_subscriptions(original, self):
    return shown(original(self))


@replaces(SNSResponse, "list_subscriptions_by_topic")
def list_subscriptions_by_topic(original, self):
    return shown(original(self))


def shown(result):
    page = dict(result.result)
    page["Subscriptions"] = [
        {
            "SubscriptionArn": "PendingConfirmation" if is_pending(s) else s.arn,
            "Owner": s.owner,
            "Protocol": s.protocol,
            "Endpoint": s.endpoint,
            "TopicArn": s.topic.arn,
        }
        for s in page["Subscriptions"]
    ]
    return ActionResult(page)


@replaces(SNSResponse, "confirm_subscription")
def confirm_subscription(_, self):
    topic, token, endpoint = self._get_param("TopicArn"), self._get_param("Token"), header("X-Portico-Endpoint")
    for subscription in self.backend.subscriptions.values():
        if subscription.topic.arn != topic or not hasattr(subscription, "token"):
            continue
        if subscription.token == token or (endpoint and subscription.endpoint == endpoint):
            subscription.attributes["PendingConfirmation"] = False
            return ActionResult({"SubscriptionArn": subscription.arn})
    raise SNSInvalidParameter("Invalid parameter: Token")


def count(pending):
    def counted(topic):
        return sum(is_pending(s) == pending for s in topic.sns_backend._get_topic_subscriptions(topic))

    return property(counted, lambda topic, value: None)


Topic.subscriptions_pending = count(True)
Topic.subscriptions_confimed = count(False)


# Queues


def queue_policy(queue):
    text = getattr(queue, "_policy_text", None)
    if text and json.loads(text) == queue._policy_json:
        return text
    return json.dumps(queue._policy_json) if queue._policy_json.get("Statement") else None


def set_queue_policy(queue, text):
    queue._policy_text = text
    queue._policy_json = json.loads(text) if text else {"Version": "2012-10-17", "Id": f"{queue.queue_arn}/SQSDefaultPolicy", "Statement": []}


Queue.policy = property(queue_policy, set_queue_policy)


@replaces(Queue, "_set_attributes")
def set_attributes(original, self, attributes, now=None):
    kept = queue_policy(self) if hasattr(self, "_policy_json") else None
    original(self, attributes, now)
    self.policy = attributes.get("Policy", kept)


# Keys that AWS manages

for number, name in enumerate(("alias/aws/sqs", "alias/aws/sns")):
    kms_utils.RESERVED_ALIASE_TARGET_KEY_IDS[name] = f"00000000-0000-4000-8000-00000000000{number}"
    kms_utils.RESERVED_ALIASES.append(name)


@replaces(kms_models.Key, "to_dict")
def key_metadata(original, self):
    answer = original(self)
    if any(alias in kms_utils.RESERVED_ALIASES for alias in self.aliases):
        answer["KeyMetadata"]["KeyManager"] = "AWS"
    return answer


# Hosted zones

zones_made = Counter()


@replaces(HostedZoneIdentifier, "generate")
def zone_id(_, self, existing_ids=None, tags=None):
    """IDs begin with Z, as AWS's do. Those of the same zones are the same in every run, so that examples can name them."""
    of = f"{self.account_id}/{self.name}"
    zones_made[of] += 1
    return "Z" + b32encode(sha256(f"{of}/{zones_made[of]}".encode()).digest()).decode()[:20]


# Buckets

FakeBucket.get_permission = lambda self, action, resource: PermissionResult.NEUTRAL


def event_of(original, event_name, bucket, key, notification_id):
    event = original(event_name, bucket, key, notification_id)
    record = event["Records"][0]
    account = bucket.account_id
    record["userIdentity"] = {"principalId": "AWS:" + (header("X-Portico-Caller") or account)}
    record["requestParameters"] = {"sourceIPAddress": "127.0.0.1"}
    record["responseElements"] = {"x-amz-request-id": uuid.uuid4().hex[:16].upper(), "x-amz-id-2": uuid.uuid4().hex}
    record["s3"]["bucket"]["ownerIdentity"] = {"principalId": account}
    about = record["s3"]["object"]
    about["key"] = quote_plus(key.name, safe="/")
    about["sequencer"] = uuid.uuid4().hex[:18].upper()
    if bucket.is_versioned:
        about["versionId"] = key.version_id
    if record["eventName"].startswith("ObjectRemoved"):
        about.pop("size", None)
        about.pop("eTag", None)
    return event


replaces(notifications, "_get_s3_event")(event_of)


def send_all(account_id, event_name, bucket, key):
    configuration = bucket.notification_configuration
    if configuration is None:
        return
    for rule in configuration.queue + configuration.topic:
        if rule.matches(event_name, key.name) and is_open(bucket.arn, rule.arn):
            notify(rule.arn, notifications._get_s3_event(event_name, bucket, key, rule.id))
    if configuration.event_bridge is not None:
        notifications._send_event_bridge_message(account_id, bucket, event_name, key)


def notify(arn, event):
    _, _, service, region, account, _ = arn.split(":")
    if service == "sqs":
        send(arn, json.dumps(event))
        return
    topic = sns_backends[account][region].topics.get(arn)
    if topic is not None:
        topic.publish(json.dumps(event), subject="Amazon S3 Notification")


def send_test_event(account_id, bucket):
    configuration = bucket.notification_configuration
    for arn in sorted({rule.arn for rule in configuration.queue + configuration.topic}):
        if is_open(bucket.arn, arn):
            event = notifications._get_test_event(bucket.name)
            event["RequestId"] = uuid.uuid4().hex[:16].upper()
            event["HostId"] = uuid.uuid4().hex
            notify(arn, event)


notifications.send_event = send_all
notifications.send_test_event = send_test_event


@replaces(s3_models.Notification, "_key_matches")
def key_matches(_, self, key_name):
    rules = self.filters.get("S3Key", {}).get("FilterRule", [])
    values = {rule["Name"].lower(): rule["Value"] or "" for rule in rules}
    return key_name.startswith(values.get("prefix", "")) and key_name.endswith(values.get("suffix", ""))


@replaces(S3Response, "get_bucket_notification")
def get_bucket_notification(original, self):
    status, headers, body = original(self)
    for name in ("Prefix", "Suffix"):
        body = body.replace(f"<Name>{name.lower()}</Name>", f"<Name>{name}</Name>")
    configuration = self.backend.get_bucket_notification_configuration(self.bucket_name)
    if configuration is not None and configuration.event_bridge is not None:
        end = "</NotificationConfiguration>"
        body = body.replace(end, "<EventBridgeConfiguration></EventBridgeConfiguration>" + end)
    return status, headers, body


@replaces(S3Backend, "delete_object")
def delete_object(original, self, bucket_name, key_name, version_id=None, bypass=False):
    """Tells of versions, of which moto tells only the last."""
    bucket = self.get_bucket(bucket_name)
    if not bucket.is_versioned or bucket.notification_configuration is None:
        return original(self, bucket_name, key_name, version_id=version_id, bypass=bypass)
    keys = [k for k in bucket.keys.getlist(key_name, []) if str(k.version_id) == str(version_id)]
    configuration, bucket.notification_configuration = bucket.notification_configuration, None
    try:
        done, headers = original(self, bucket_name, key_name, version_id=version_id, bypass=bypass)
    finally:
        bucket.notification_configuration = configuration
    events = notifications.S3NotificationEvent
    if done and version_id is None:
        send_all(self.account_id, events.OBJECT_REMOVED_DELETE_MARKER_CREATED_EVENT, bucket, Marker(key_name, headers["version-id"]))
    elif done and keys:
        send_all(self.account_id, events.OBJECT_REMOVED_DELETE_EVENT, bucket, Marker(key_name, version_id))
    return done, headers


class Marker:
    """What is told of a version that is gone, or of a delete marker."""

    etag, size = "", 0

    def __init__(self, name, version_id):
        self.name, self.version_id = name, version_id


# For every request moto lists its own folders and tries the patterns of all services, a fifth of its time. The answer
# depends on the host only.
DomainDispatcherApplication.get_backend_for_host = lru_cache(maxsize=1000)(DomainDispatcherApplication.get_backend_for_host)

# For each certificate moto makes an RSA key and checks it, in the time of a hundred requests. Nobody uses these keys, nor
# those of key pairs, so one serves all.
rsa.generate_private_key = lru_cache(rsa.generate_private_key)
serialization.load_pem_private_key = lru_cache(maxsize=1000)(serialization.load_pem_private_key)

# The proxy asks for this path before it relies on any of the above.
api_urls.url_paths["{0}/moto-api/portico$"] = lambda request, full_url, headers: (200, {}, "ok")

if __name__ == "__main__":
    sys.exit(importlib.import_module("moto.server").main())
