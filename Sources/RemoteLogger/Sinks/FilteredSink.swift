import HTTPTransport

/// A sink that receives only the records that pass a filter.
public struct FilteredSink<Base: LogSink>: LogSink {
    /// The filtered sink.
    public let base: Base
    /// Records below this level aren't passed to the sink.
    public let minimumLevel: LogLevel
    private let includes: @Sendable (LogRecord) -> Bool

    init(_ base: Base, minimumLevel: LogLevel, includes: @escaping @Sendable (LogRecord) -> Bool) {
        self.base = base
        self.minimumLevel = max(base.minimumLevel, minimumLevel)
        self.includes = includes
        (base as? LogShipper)?.noteFilter()
    }

    /// Passes the record on if it passes the filter.
    public func write(_ record: LogRecord) {
        if includes(record) { base.write(record) }
    }

    /// Flushes the filtered sink.
    public func flush(within limit: Duration) async -> Bool { await base.flush(within: limit) }
    /// Shuts the filtered sink down.
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
    /// For a ``LogShipper`` prefer ``ShippingSettings/includes``; with a spool it is required.
    public func filtered(
        from minimumLevel: LogLevel = .trace, where includes: @escaping @Sendable (LogRecord) -> Bool = { _ in true }
    ) -> FilteredSink<Self> {
        FilteredSink(self, minimumLevel: minimumLevel, includes: includes)
    }
}

extension LogShipper {
    /// Returns this shipper with a filter for level and content, if it has no spool. A spool delivers records of any origin to the shipper,
    /// past this filter: use ``ShippingSettings/includes`` and ``ShippingSettings/minimumLevel`` instead, which also work without a spool.
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

    /// Warns if generic code has put a filter before a shipper with a spool.
    fileprivate func noteFilter() {
        if hasSpool { report(.warning, filterRefusal) }
    }
}
