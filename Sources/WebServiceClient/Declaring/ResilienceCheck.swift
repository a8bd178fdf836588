/// Finds policies of circuit breakers, hedging and injected faults whose values make no sense.
enum ResilienceCheck {
    /// Returns the faults in the settings of one endpoint, or in those of the class or the client.
    ///
    /// - Parameter method: The endpoint's method; `nil` for settings of several endpoints. Endpoints with unsafe methods aren't hedged.
    static func faults(_ settings: EndpointSettings, key: String?, method: ServiceRequest.Method? = nil) -> [TableFault] {
        var faults: [TableFault] = []
        if let policy = settings.attributes[CircuitBreakerPolicy.self] { faults += Self.faults(policy, key: key) }
        if let policy = settings.attributes[HedgingPolicy.self] {
            // The deadlines of other levels: see `faults(table:settings:circuitBreaker:)`.
            var timeouts = settings.timeouts ?? ServiceTimeouts(firstByte: nil)
            timeouts.total = settings.totalTimeout ?? timeouts.total
            faults += policy.faults(timeouts).map { fault(key, of: "hedging policy", $0) }
            if policy != .off, let method, !method.isSafe {
                let problem = "a \(method) isn't safe, so it isn't hedged"
                faults.append(TableFault(kind: .badPolicy, key: key, problem: problem, fix: "remove .hedged(…), or use a safe method"))
            }
        }
        if let plan = settings.attributes[FaultPlan.self] { faults += plan.faults.map { fault(key, of: "fault plan", $0) } }
        if settings.attributes[Coalescing.self]?.isEnabled == true, let method, method != .get, method != .head {
            let problem = "calls with \(method) don't share exchanges"
            faults.append(
                TableFault(kind: .badPolicy, key: key, problem: problem, fix: "remove .coalesced(): only GET and HEAD share them"))
        }
        return faults
    }

    /// Returns the faults of the client's circuit breaker, and those of endpoints with deadlines that the class or the client set.
    ///
    /// - Parameter perMethod: The class's own settings by method.
    static func faults(
        table: CompiledTable, settings: EndpointSettings, perMethod: [ServiceRequest.Method: EndpointSettings] = [:],
        circuitBreaker: CircuitBreakerPolicy?, injection: FaultInjection? = nil
    ) -> [TableFault] {
        var client = circuitBreaker.map { faults($0, key: nil) } ?? []
        client += injection?.faults.map { fault($0.key, of: "fault plan", ($0.problem, $0.fix)) } ?? []
        return client
            + table.settings.flatMap { key, method, own -> [TableFault] in
                // Faults without other levels are the table's.
                guard let policy = own.attributes[HedgingPolicy.self], faults(own, key: key).isEmpty else { return [] }
                let common = perMethod[method].map(settings.overlaid) ?? settings
                return policy.faults(common.overlaid(by: own).deadlines).map { fault(key, of: "hedging policy", $0) }
            }
    }

    private static func faults(_ policy: CircuitBreakerPolicy, key: String?) -> [TableFault] {
        policy.faults.map { fault(key, of: "circuit breaker policy", $0) }
    }

    private static func fault(_ key: String?, of policy: String, _ fault: (problem: String, fix: String)) -> TableFault {
        TableFault(
            kind: .badPolicy, key: key, problem: "the \(policy)\(TableFault.owner(key)) is invalid: \(fault.problem)", fix: fault.fix)
    }
}
