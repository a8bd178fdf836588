public import Foundation
public import HTTPTransport

/// Ships records to a receiver over HTTP: collects them in batches, sends one request at a time unless more are
/// allowed, and repeats it until the receiver has acknowledged it.
///
///     let shipper = try LogShipper(to: URL(string: "http://localhost:4318/v1/logs")!, format: OTLPFormat()) {
///         $0.headers["X-Scope-OrgID"] = "shop"
///         $0.batch.interval = .seconds(2)
///     }
///
/// | when | the record survives |
/// |---|---|
/// | ``write(_:)`` has returned | everything but the process's death: it is in bounded memory, or counted as dropped with a reason |
/// | written to the spool (at most 200 ms later; at once for `error` and above) | the end of the process, `kill -9` |
/// | synced, in the same step | power loss |
/// | acknowledged by the receiver | it is the receiver's |
///
/// - Important: Without a ``ShippingSettings/spool`` the records that aren't acknowledged yet are in memory only. They are gone when the
///   process ends: call ``shutdown(within:)`` before.
///
/// Delivery is *at least once*: when a connection breaks before the answer, nobody knows whether the receiver has the batch, and the
/// same bytes are sent again. Each record's id tells duplicates. ``statistics`` accounts for every record.
public final class LogShipper: LogSink {
    /// Records below this level aren't shipped.
    public let minimumLevel: LogLevel

    /// The shipper's name: that of its destination in the spool, `default` unless set. Of shippers of one name in a pipeline
    /// ``LogPipeline/shippers`` tells how they are told apart.
    public let name: String

    private let core: ShippingCore

    /// A shipper to an endpoint. It starts at once.
    ///
    /// - Parameters:
    ///   - endpoint: the absolute `http` or `https` URL that takes the records, without user name and password in it.
    ///   - format: how the records are written and what answers mean.
    ///   - transport: sends the requests, the one that clients use unless given. It is used directly, without a client's interceptors.
    ///   - configure: changes the settings.
    /// - Throws: ``LogShipperError`` when the endpoint or a header field can't be used.
    public convenience init(
        to endpoint: URL, format: any LogFormat, transport: any Transport = DefaultTransport.shared,
        configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws {
        var settings = ShippingSettings()
        configure(&settings)
        try LogShipperError.check(endpoint)
        try LogShipperError.check(settings.headers)
        try self.init(to: endpoint, format: format, transport: transport, settings: settings, store: Self.store(settings))
    }

    package convenience init(
        to endpoint: URL, format: any LogFormat, transport: any Transport, settings: ShippingSettings, store: any RecordStore
    ) throws {
        try LogShipperError.check(endpoint)
        try LogShipperError.check(settings.headers)
        let sender = HTTPSender(endpoint: endpoint, format: format, transport: transport, settings: settings)
        self.init(format: format, sender: sender, settings: settings, store: store)
    }

    init(format: any LogFormat, sender: any PayloadSender, settings: ShippingSettings, store: any RecordStore) {
        minimumLevel = settings.minimumLevel
        name = settings.destination
        core = ShippingCore(format: format, sender: sender, settings: settings, store: store)
        core.start()
    }

    static func store(_ settings: ShippingSettings) throws(LogShipperError) -> any RecordStore {
        guard let spool = settings.spool else { return MemoryStore(limits: settings.buffer) }
        try LogShipperError.check(destination: settings.destination)
        guard let store = spool.store(for: settings.destination, minimumLevel: settings.minimumLevel, includes: settings.includes) else {
            throw LogShipperError(
                message: "The spool has a shipper for the destination \"\(settings.destination)\" already: "
                    + "give each its own name by `destination`.")
        }
        return store
    }

    deinit {
        core.close()
    }

    var hasSpool: Bool { core.settings.spool != nil }

    func report(_ level: Diagnostics.Event.Level, _ message: String) { core.report(level, message) }

    /// What became of the records so far.
    public var statistics: LogStatistics { core.statistics }

    /// Takes a record into the buffer, or counts it, or another one, as dropped. Never waits.
    public func write(_ record: LogRecord) {
        guard record.level >= minimumLevel else { return }
        core.write(record)
    }

    /// Sends what was written before without waiting for more, and waits until the receiver has it or the time is over. It also ends,
    /// once, a wait after a failure, unless the receiver has asked for that wait. In a cancelled task it doesn't wait.
    ///
    /// - Returns: whether everything that was written before is delivered: nothing is left, nothing was dropped while waiting.
    @discardableResult public func flush(within limit: Duration) async -> Bool {
        await core.flush(within: limit)
    }

    /// Takes no more records, delivers what it can within the time, and ends. What is left then stays in the spool for the next run;
    /// without a spool, or when its disk fails, it is counted as dropped. With a spool half of the time, 200 ms at most, is kept for the disk.
    ///
    /// A cancelled task doesn't cut it short: that is where programs shut down.
    ///
    /// - Returns: whether everything was delivered.
    @discardableResult public func shutdown(within limit: Duration) async -> Bool {
        await Task { await end(within: limit) }.value
    }

    private func end(within limit: Duration) async -> Bool {
        core.tellLosses(atOnce: true)
        core.refuse()
        let end = core.settings.clock.uptime &+ limit.wholeNanoseconds
        let delivered = await core.flush(within: limit - core.persistTime(within: limit))
        // Where all is delivered the store has to note that, or the next run would find it again.
        await core.persist(until: end)
        core.close()
        return delivered
    }
}

extension LogShipper: HealthReporting {
    var shipper: LogShipper? { self }
}

extension LogShipper: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The destination and its receiver, secrets masked.
    public var description: String { "LogShipper \(name) to \(core.sender.receiver)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Destination, receiver and least level: endpoint and headers may hold secrets, which not even a dump shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "receiver": core.sender.receiver, "minimumLevel": minimumLevel])
    }
}

/// Why a shipper can't be made.
public struct LogShipperError: DescribedError, Sendable, Hashable {
    /// What is wrong and what to do, as a sentence without secrets.
    public let message: String

    /// The message.
    public var description: String { message }

    static func check(_ endpoint: URL) throws(LogShipperError) {
        let text = SecretMask.text(of: endpoint)
        guard let origin = Origin(endpoint), origin.scheme == "http" || origin.scheme == "https" else {
            throw LogShipperError(message: "\(text) can't take log records: give an absolute http or https URL.")
        }
        guard endpoint.user(percentEncoded: true) == nil, endpoint.password(percentEncoded: true) == nil else {
            throw LogShipperError(message: "\(text) has a user name or password in it: give credentials by `headers` or `authorize`.")
        }
    }

    static func check(destination: String) throws(LogShipperError) {
        guard (1...60).contains(destination.utf8.count) else {
            throw LogShipperError(message: "The spool's destination \"\(destination.prefix(60))\" must have from 1 to 60 bytes.")
        }
    }

    static func check(_ headers: HTTPFields) throws(LogShipperError) {
        for (index, field) in headers.enumerated() {
            // What isn't a name may be a credential in its place.
            guard field.name.isValid else {
                throw LogShipperError(message: "The name of header field number \(index + 1) is no token, such as X-Team.")
            }
            guard isOfOneLine(field.value) else {
                throw LogShipperError(message: "The value of the header field \(field.name) has a line break or NUL in it: remove it.")
            }
        }
    }

    static func isOfOneLine(_ value: String) -> Bool {
        !value.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" }
    }
}
