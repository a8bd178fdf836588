public import Foundation
public import HTTPTransport

/// Ships records to a receiver over HTTP: collects them in batches, sends one request at a time by default, and repeats each until the
/// receiver has acknowledged it.
///
///     let shipper = try LogShipper(to: URL(string: "http://localhost:4318/v1/logs")!, format: OTLPFormat()) {
///         $0.headers["X-Scope-OrgID"] = "shop"
///         $0.batch.interval = .seconds(2)
///     }
///
/// | when | the record survives |
/// |---|---|
/// | ``write(_:)`` has returned | everything except the process's death: it is in bounded memory, or counted as dropped with a reason |
/// | written to the spool (at most 200 ms later; at once for `error` and above) | the end of the process, `kill -9` |
/// | synced, in the same step | power loss |
/// | acknowledged by the receiver | the receiver is responsible |
///
/// - Important: Without a ``ShippingSettings/spool``, unacknowledged records are only in memory and are lost when the process ends: call
///   ``shutdown(within:)`` before the process ends.
///
/// Delivery is *at least once*: if a connection breaks before the response, the receiver may or may not have the batch, and the same bytes
/// are sent again. Each record's ID identifies duplicates. ``statistics`` accounts for every record.
public final class LogShipper: LogSink {
    /// The lowest level of shipped records.
    public let minimumLevel: LogLevel

    /// The shipper's name, which is also that of its destination in the spool. Default `default`. ``LogPipeline/shippers`` describes how
    /// shippers with the same name in a pipeline are distinguished.
    public let name: String

    private let core: ShippingCore

    /// Creates a shipper to an endpoint and starts it.
    ///
    /// - Parameters:
    ///   - endpoint: The absolute `http` or `https` URL that accepts the records, without a user name or password.
    ///   - format: The encoding of records and the interpretation of responses.
    ///   - transport: Sends the requests; the clients' default transport by default. It is used directly, without a client's interceptors.
    ///   - configure: Changes the settings.
    /// - Throws: ``LogShipperError`` if the endpoint or a header field can't be used.
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
                message: "The spool already has a shipper for the destination \"\(settings.destination)\": "
                    + "give each its own name by `destination`.")
        }
        return store
    }

    deinit {
        core.close()
    }

    var hasSpool: Bool { core.settings.spool != nil }

    func report(_ level: Diagnostics.Event.Level, _ message: String) { core.report(level, message) }

    /// The outcomes of the records so far.
    public var statistics: LogStatistics { core.statistics }

    /// Adds a record to the buffer. If there is no room, counts this record or another one as dropped. Never blocks.
    public func write(_ record: LogRecord) {
        guard record.level >= minimumLevel else { return }
        core.write(record)
    }

    /// Sends all earlier records without waiting for more, and waits until the receiver has them or the time is over. Also ends a wait
    /// after a failure, once, unless the receiver has requested that wait. Doesn't wait in a cancelled task.
    ///
    /// - Returns: Whether all earlier records are delivered: none is left, and none was dropped while waiting.
    @discardableResult public func flush(within limit: Duration) async -> Bool {
        await core.flush(within: limit)
    }

    /// Stops accepting records, delivers as many as possible within the time, and closes the shipper. Remaining records stay in the spool
    /// for the next run; without a spool, or if its disk fails, they count as dropped. With a spool, half of the time, at most 200 ms, is
    /// reserved for the disk.
    ///
    /// Cancelling the task doesn't shorten this, because programs typically shut down in cancelled tasks.
    ///
    /// - Returns: Whether everything was delivered.
    @discardableResult public func shutdown(within limit: Duration) async -> Bool {
        await Task { await end(within: limit) }.value
    }

    private func end(within limit: Duration) async -> Bool {
        core.reportNewLosses(atOnce: true)
        core.refuse()
        let end = core.settings.clock.uptime &+ limit.wholeNanoseconds
        let delivered = await core.flush(within: limit - core.persistTime(within: limit))
        // The store must also save that everything is delivered: otherwise the next run would deliver it again.
        await core.persist(until: end)
        core.close()
        return delivered
    }
}

extension LogShipper: HealthReporting {
    var shipper: LogShipper? { self }
}

extension LogShipper: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The destination and its receiver, with secrets masked.
    public var description: String { "LogShipper \(name) to \(core.sender.receiver)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The destination, the receiver and the minimum level. The endpoint and headers may contain secrets, so even a dump omits them.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "receiver": core.sender.receiver, "minimumLevel": minimumLevel])
    }
}
