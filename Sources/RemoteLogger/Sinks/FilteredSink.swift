import WebServiceClient

/// A sink that gets some records only.
public struct FilteredSink<Base: LogSink>: LogSink {
    /// The sink behind the filter.
    public let base: Base
    /// Records below this level aren't given to the sink.
    public let minimumLevel: LogLevel
    private let includes: @Sendable (LogRecord) -> Bool

    init(_ base: Base, minimumLevel: LogLevel, includes: @escaping @Sendable (LogRecord) -> Bool) {
        self.base = base
        self.minimumLevel = max(base.minimumLevel, minimumLevel)
        self.includes = includes
        (base as? LogShipper)?.noteFilter()
    }

    /// Hands the record on, if it is wanted.
    public func write(_ record: LogRecord) {
        if includes(record) { base.write(record) }
    }

    /// Does what the sink does.
    public func flush(within limit: Duration) async -> Bool { await base.flush(within: limit) }
    /// Does what the sink does.
    public func shutdown(within limit: Duration) async -> Bool { await base.shutdown(within: limit) }
}

extension FilteredSink: HealthReporting {
    func report(to health: inout LogHealth) {
        (base as? any HealthReporting)?.report(to: &health)
    }

    var shipper: LogShipper? { (base as? any HealthReporting)?.shipper }
}

extension LogSink {
    /// The sink, for records from a level on that are wanted; the filter is asked on the thread that logs, and must be quick.
    ///
    ///     ConsoleSink().filtered(from: .warning) { !$0.label.hasPrefix("shop.cache") }
    ///
    /// A ``LogShipper`` is better given its filter by ``ShippingSettings/includes``: with a spool it must be.
    public func filtered(
        from minimumLevel: LogLevel = .trace, where includes: @escaping @Sendable (LogRecord) -> Bool = { _ in true }
    ) -> FilteredSink<Self> {
        FilteredSink(self, minimumLevel: minimumLevel, includes: includes)
    }
}

extension LogShipper {
    /// The shipper, for records from a level on that are wanted, where it has no spool. What is in a spool comes to the shipper whoever has put it
    /// there, hence its filter belongs to ``ShippingSettings/includes`` and ``ShippingSettings/minimumLevel``, which also hold without a spool.
    ///
    /// - Throws: ``LogShipperError`` when the shipper has a spool.
    public func filtered(
        from minimumLevel: LogLevel = .trace, where includes: @escaping @Sendable (LogRecord) -> Bool = { _ in true }
    ) throws(LogShipperError) -> FilteredSink<LogShipper> {
        if hasSpool { throw LogShipperError(message: filterRefusal) }
        return FilteredSink(self, minimumLevel: minimumLevel, includes: includes)
    }

    private var filterRefusal: String {
        "The shipper \"\(name)\" has a spool, from which it gets records past a filter before it: give it the filter by `includes` and "
            + "`minimumLevel` of its settings."
    }

    /// Somebody who doesn't know that it is a shipper puts a filter before it.
    fileprivate func noteFilter() {
        if hasSpool { report(.warning, filterRefusal) }
    }
}
