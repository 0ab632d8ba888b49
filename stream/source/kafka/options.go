package kafka

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lakesql/files"
	"lakesql/stream/source"
)

// Brokers is the option that names the brokers, which is also kafka()'s first argument.
const Brokers = "kafka.bootstrap.servers"

// defaultMaxOffsets bounds a batch, and so what a crash makes a stream read again. Spark has no bound.
const defaultMaxOffsets = 1_000_000

// options are the named arguments of kafka().
type options struct {
	// What is read: one of the three.
	topics  []string
	pattern *regexp.Regexp
	assign  []partition

	starting       starting
	failOnDataLoss bool
	headers        bool
	maxOffsets     int64 // per trigger; 0: no limit
	minOffsets     int64 // per trigger; 0: any
	maxDelay       time.Duration

	value  valueOptions
	client map[string]string // the properties kafka.*, without that in front, in lower case
	given  map[string]string // the spelling of each option that was given, by its key
}

// starting says where a source begins whose checkpoint is new.
type starting struct {
	at       int64   // earliest or latest, where neither of the others is given
	offsets  offsets // startingOffsets as JSON: of each partition, also earliest and latest
	time     int64   // startingTimestamp, epoch ms; 0: not given
	times    offsets // startingOffsetsByTimestamp, epoch ms
	orLatest bool    // a time behind the last record means the end
}

// Where a partition begins, in Kafka's numbers.
const (
	latest   = -1
	earliest = -2
)

// setters read the options that are Spark's, by their names in lower case.
var setters = map[string]func(o *options, value string) error{
	"subscribe":        (*options).setTopics,
	"subscribepattern": (*options).setPattern,
	"assign": func(o *options, v string) (err error) {
		o.assign, err = parseAssignment(v)
		return hint(err, `give the partitions of each topic, such as '{"topic":[0,1]}'`)
	},
	"startingoffsets": (*options).setStarting,
	"startingtimestamp": func(o *options, v string) (err error) {
		o.starting.time, err = strconv.ParseInt(v, 10, 64)
		if err != nil || o.starting.time <= 0 {
			err = errors.New("give the milliseconds since 1970")
		}
		return err
	},
	"startingoffsetsbytimestamp": func(o *options, v string) (err error) {
		o.starting.times, err = parsePartitions(v, 0)
		return hint(err, `give the milliseconds since 1970 of each partition, such as '{"topic":{"0":1700000000000}}'`)
	},
	"startingoffsetsbytimestampstrategy": func(o *options, v string) error {
		switch strings.ToLower(v) {
		case "error":
		case "latest":
			o.starting.orLatest = true
		default:
			return errors.New("give error or latest")
		}
		return nil
	},
	"failondataloss":       boolean(func(o *options) *bool { return &o.failOnDataLoss }),
	"includeheaders":       boolean(func(o *options) *bool { return &o.headers }),
	"maxoffsetspertrigger": number(func(o *options) *int64 { return &o.maxOffsets }),
	"minoffsetspertrigger": number(func(o *options) *int64 { return &o.minOffsets }),
	"maxtriggerdelay":      (*options).setDelay,
}

// aliases are other names of options.
var aliases = map[string]string{"topic": "subscribe", "topics": "subscribe", "value_format": "format", "valueformat": "format", "delimiter": "sep", "inferschema": "infercolumntypes"}

// refused are options of Spark that have no meaning here, and why.
var refused = map[string]string{
	"endingoffsets":                           "a stream has no end: TRIGGER AVAILABLE NOW reads what is there and ends",
	"endingtimestamp":                         "a stream has no end: TRIGGER AVAILABLE NOW reads what is there and ends",
	"endingoffsetsbytimestamp":                "a stream has no end: TRIGGER AVAILABLE NOW reads what is there and ends",
	"groupidprefix":                           "no consumer group takes part: the checkpoint has the offsets",
	"minpartitions":                           "it is for clusters, leave it out",
	"maxrecordsperpartition":                  "it is for clusters, leave it out",
	"kafkaconsumer.polltimeoutms":             "a stream tries again for ever, leave it out",
	"fetchoffset.numretries":                  "a stream tries again for ever, leave it out",
	"fetchoffset.retryintervalms":             "a stream tries again for ever, leave it out",
	"schemaregistry":                          "no registry is asked: give the schema, format => 'avro-confluent', avroSchema => '{...}'",
	"kafka.group.id":                          "no consumer group takes part: the checkpoint has the offsets",
	"kafka.auto.offset.reset":                 "write startingOffsets => 'earliest' or 'latest'",
	"kafka.enable.auto.commit":                "nothing is committed to Kafka: the checkpoint has the offsets",
	"kafka.key.deserializer":                  "keys are BINARY: CAST(key AS CHAR) is their text",
	"kafka.value.deserializer":                "values are BINARY, or taken apart by format => 'json', 'csv', 'text' or 'avro'",
	"kafka.interceptor.classes":               "there is no Java here to run it",
	"kafka.ssl.truststore.location":           "give the certificates as PEM: kafka.ssl.truststore.certificates => 'file:NAME' in the folder secrets",
	"kafka.ssl.truststore.password":           "certificates are read as PEM, which has no password",
	"kafka.ssl.keystore.location":             "give PEM: kafka.ssl.keystore.certificate.chain and kafka.ssl.keystore.key",
	"kafka.ssl.keystore.password":             "certificates and keys are read as PEM, which has no password",
	"kafka.ssl.key.password":                  "a key with a password is not supported: keep it in the folder secrets without one",
	"kafka.sasl.login.callback.handler.class": "there is no Java here to run it",
}

// parseOptions reads the named arguments of kafka(): Spark's names in any case. One that is unknown, or has no meaning for what is read,
// is an error that names it.
func parseOptions(args map[string]string) (*options, error) {
	o := &options{starting: starting{at: latest}, failOnDataLoss: true, maxOffsets: defaultMaxOffsets, maxDelay: 15 * time.Minute,
		client: map[string]string{}, given: map[string]string{}}
	value := map[string]string{} // what says how values are read, by key
	for _, name := range slices.Sorted(maps.Keys(args)) {
		key := strings.ToLower(name)
		if known, ok := aliases[key]; ok {
			key = known
		}
		if other, twice := o.given[key]; twice {
			return nil, argumentError("option %s is given twice, as %s too: leave one out", name, other)
		}
		o.given[key] = name
		if why, ok := refused[key]; ok {
			return nil, argumentError("option %s: %s", name, why)
		}
		if set, ok := setters[key]; ok {
			if err := set(o, args[name]); err != nil {
				return nil, argumentError("option %s => '%s': %w", name, args[name], err)
			}
		} else if property, ok := strings.CutPrefix(key, "kafka."); ok {
			if !properties[property] {
				return nil, argumentError("the property %s is not known: there are kafka.%s", name, strings.Join(slices.Sorted(maps.Keys(properties)), ", kafka."))
			}
			o.client[property] = args[name]
		} else {
			value[key] = args[name]
		}
	}
	if err := o.value.parse(value, o.given); err != nil {
		return nil, err
	}
	return o, o.check()
}

func (o *options) check() error {
	if o.client["bootstrap.servers"] == "" {
		return argumentError("the brokers are missing: write STREAM kafka('host1:9092,host2:9092', topic => 't')")
	}
	chosen := 0
	for _, key := range []string{"subscribe", "subscribepattern", "assign"} {
		if _, ok := o.given[key]; ok {
			chosen++
		}
	}
	if chosen != 1 {
		return argumentError("say what is read by one of topic => 't1,t2', subscribePattern => 't.*' and assign => '{\"t\":[0,1]}'")
	}
	if o.minOffsets > 0 && o.maxOffsets > 0 && o.minOffsets > o.maxOffsets {
		return argumentError("minOffsetsPerTrigger (%d) is more than maxOffsetsPerTrigger (%d)", o.minOffsets, o.maxOffsets)
	}
	return nil
}

func (o *options) setTopics(value string) error {
	for topic := range strings.SplitSeq(value, ",") {
		if topic = strings.TrimSpace(topic); topic != "" && !slices.Contains(o.topics, topic) {
			o.topics = append(o.topics, topic)
		}
	}
	if len(o.topics) == 0 {
		return errors.New("give a topic, or several with commas")
	}
	slices.Sort(o.topics)
	return nil
}

// setPattern reads a regular expression that has to match a topic's whole name.
func (o *options) setPattern(value string) (err error) {
	o.pattern, err = regexp.Compile("^(?:" + value + ")$")
	return hint(err, "give a regular expression, such as 'orders-.*'")
}

func (o *options) setStarting(value string) (err error) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "earliest":
		o.starting.at = earliest
	case "latest":
		o.starting.at = latest
	default:
		o.starting.offsets, err = parsePartitions(value, earliest)
		return hint(err, `give earliest, latest, or the offset of each partition, -2 for its first and -1 for its end, such as '{"topic":{"0":23,"1":-2}}'`)
	}
	return nil
}

func (o *options) setDelay(value string) error {
	d, ok := source.ParseDuration(value, 0)
	if !ok {
		return errors.New("give a time such as '30s' or '15m'")
	}
	o.maxDelay = d
	return nil
}

// description names what is read, as Spark does.
func (o *options) description() string {
	switch {
	case o.pattern != nil:
		text := strings.TrimSuffix(strings.TrimPrefix(o.pattern.String(), "^(?:"), ")$")
		return "KafkaV2[SubscribePattern[" + text + "]]"
	case o.assign != nil:
		names := make([]string, len(o.assign))
		for i, p := range o.assign {
			names[i] = fmt.Sprintf("%s-%d", p.topic, p.number)
		}
		return "KafkaV2[Assign[" + strings.Join(names, ", ") + "]]"
	}
	return "KafkaV2[Subscribe[" + strings.Join(o.topics, ", ") + "]]"
}

// names are the topics to ask for; nil: all of them.
func (o *options) names() []string {
	if o.assign == nil {
		return o.topics
	}
	var names []string
	for _, p := range o.assign {
		names = append(names, p.topic)
	}
	return slices.Compact(names)
}

// has says whether a partition is among those that are read.
func (o *options) has(p partition) bool {
	switch {
	case o.pattern != nil:
		return o.pattern.MatchString(p.topic)
	case o.assign != nil:
		return slices.Contains(o.assign, p)
	}
	return true
}

func argumentError(format string, args ...any) error {
	return &files.ArgumentError{Err: fmt.Errorf("kafka(): "+format, args...)}
}

func hint(err error, text string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; %s", err, text)
}

func boolean(field func(*options) *bool) func(*options, string) error {
	return func(o *options, value string) error {
		b, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return errors.New("give true or false")
		}
		*field(o) = b
		return nil
	}
}

func number(field func(*options) *int64) func(*options, string) error {
	return func(o *options, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n <= 0 {
			return errors.New("give a whole number from 1 on")
		}
		*field(o) = n
		return nil
	}
}
