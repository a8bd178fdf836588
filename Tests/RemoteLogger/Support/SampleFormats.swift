import RemoteLogger

/// An instance of each format, by name.
enum SampleFormats {
    static let all: [String: any LogFormat] = [
        "Loki": LokiFormat(labels: ["app": "shop"]), "OTLP": OTLPFormat(), "Elasticsearch": ElasticsearchFormat(index: "logs"),
        "Splunk": SplunkFormat(), "Datadog": DatadogFormat(service: "shop"), "GELF": GELFFormat(host: "h"), "NDJSON": NDJSONFormat(),
        "syslog": SyslogFormat(application: "shop", hostname: "h", maximumMessageBytes: 1 << 20),
    ]
}
