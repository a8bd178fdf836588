import HTTPTransport

/// A sink that receives only the records that pass a filter.
public struct FilteredSink<Base: LogSink>: LogSink {
    /// The sink that receives the filtered records.
    public let base: Base
    /// The lowest level of the records that are passed to ``base``.
    public let minimumLevel: LogLevel
    private let includes: @Sendable (LogRecord) -> Bool

    init(_ base: Base, minimumLevel: LogLevel, includes: @escaping @Sendable (LogRecord) -> Bool) {
        self.base = base
        self.minimumLevel = max(base.minimumLevel, minimumLevel)
        self.includes = includes
        (base as? LogShipper)?.noteFilter()
    }

    /// Writes the record to ``base`` if the record passes the filter.
    public func write(_ record: LogRecord) {
        if includes(record) { base.write(record) }
    }

    /// Flushes ``base``.
    public func flush(within limit: Duration) async -> Bool { await base.flush(within: limit) }
    /// Shuts ``base`` down.
    public func shutdown(within limit: Duration) async -> Bool { await base.shutdown(within: limit) }
}

extension FilteredSink: HealthReporting {
    func report(to health: inout LogHealth) {
        (base as? any HealthReporting)?.report(to: &health)
    }

    var shipper: LogShipper? { (base as? any HealthReporting)?.shipper }
}

extension LogSink {
    /// Returns this sink with a filter for level and content. The filter runs on the logging thread and must be fast.
    ///
    ///     ConsoleSink().filtered(from: .warning) { !$0.label.hasPrefix("shop.cache") }
    ///
    /// For a ``LogShipper``, use ``ShippingSettings/includes`` instead: the records of a spool bypass this filter.
    public func filtered(
        from minimumLevel: LogLevel = .trace, where includes: @escaping @Sendable (LogRecord) -> Bool = { _ in true }
    ) -> FilteredSink<Self> {
        FilteredSink(self, minimumLevel: minimumLevel, includes: includes)
    }
}

extension LogShipper {
    /// Returns this shipper with a filter for level and content. The shipper must not have a spool: a spool also contains records of
    /// earlier runs and of other shippers, which bypass this filter. Use ``ShippingSettings/includes`` and
    /// ``ShippingSettings/minimumLevel`` instead, which work with and without a spool.
    ///
    /// - Throws: ``LogShipperError`` if the shipper has a spool.
    public func filtered(
        from minimumLevel: LogLevel = .trace, where includes: @escaping @Sendable (LogRecord) -> Bool = { _ in true }
    ) throws(LogShipperError) -> FilteredSink<LogShipper> {
        if hasSpool { throw LogShipperError(message: filterRefusal) }
        return FilteredSink(self, minimumLevel: minimumLevel, includes: includes)
    }

    private var filterRefusal: String {
        "The shipper \"\(name)\" has a spool, whose records bypass this filter: use `includes` and "
            + "`minimumLevel` of its settings instead."
    }

    /// Warns if the shipper has a spool. Generic code can filter such a shipper, because it calls the method of ``LogSink``, which doesn't
    /// throw.
    fileprivate func noteFilter() {
        if hasSpool { report(.warning, filterRefusal) }
    }
}
