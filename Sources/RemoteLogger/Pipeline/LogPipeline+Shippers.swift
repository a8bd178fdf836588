extension LogPipeline {
    /// The shippers among the sinks, behind filters too, each once, by their names: ``LogHealth/receivers`` has the same keys.
    ///
    /// Without a spool several may have one name, `default` where none is set. The first one has it for its key; the next ones have it with a
    /// number behind, in the order of the sinks, `default 2`, `default 3`, where none is named like that. Who goes by the key is better off with names
    /// (``ShippingSettings/destination``).
    public var shippers: [String: LogShipper] {
        var all: [LogShipper] = []
        for case let sink as any HealthReporting in sinks {
            if let shipper = sink.shipper, !all.contains(where: { $0 === shipper }) { all.append(shipper) }
        }
        let names = Set(all.map(\.name))
        var shippers: [String: LogShipper] = [:]
        for shipper in all {
            var (key, number) = (shipper.name, 1)
            while shippers[key] != nil || number > 1 && names.contains(key) {
                number += 1
                key = "\(shipper.name) \(number)"
            }
            shippers[key] = shipper
        }
        return shippers
    }
}
