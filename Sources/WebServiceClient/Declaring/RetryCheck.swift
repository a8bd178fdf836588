/// Finds retry policies, budgets and idempotency keys that make no sense, and policies of endpoints whose calls they can never repeat.
///
/// Such a client makes no calls, so that a mistake shows before the first failure.
enum RetryCheck {
    /// Returns the faults of a client or a class.
    ///
    /// - Parameters:
    ///   - settings: The settings that all endpoints share.
    ///   - perMethod: The class's own settings by method.
    ///   - policy: The client's policy.
    ///   - budget: The client's budget.
    static func faults(
        table: CompiledTable, settings: EndpointSettings, perMethod: [ServiceRequest.Method: EndpointSettings] = [:],
        policy: RetryPolicy = .never, budget: RetryBudget? = nil
    ) -> [TableFault] {
        let common = settings.attributes
        var faults = (policy.problems + (budget?.problems ?? [])).map { fault($0, key: nil) }
        faults += Self.faults(common, key: nil)
        for key in table.keys {
            guard let plan = table.plans[key] else { continue }
            let ofMethod = perMethod[plan.method].map { common.overlaid(by: $0.attributes) } ?? common
            faults += Self.faults(of: plan, key: key, under: ofMethod)
        }
        return faults
    }

    /// Returns the faults of one endpoint.
    ///
    /// - Parameter common: The attributes that all endpoints with the method share.
    static func faults(of plan: EndpointPlan, key: String, under common: EndpointAttributes) -> [TableFault] {
        let own = plan.settings.attributes
        guard !own.isEmpty else { return [] }
        var faults = Self.faults(own, key: key)
        // A policy for all endpoints may suit only some of them; the endpoint's own must suit it.
        guard let policy = own[RetryPolicy.self], policy.attempts > 1, policy.unsafeMethods != .always else { return faults }
        let all = common.overlaid(by: own)
        let isIdempotent = all[Idempotence.self]?.isIdempotent ?? plan.method.isIdempotent
        guard !isIdempotent, all[RetryDecider.self] == nil else { return faults }
        let keyName = all[IdempotencyKey.self]?.name ?? "Idempotency-Key"
        let hasKey =
            all[IdempotencyKey.self] != nil || all[IdempotencyKey.Given.self] != nil
            || plan.headers.contains { $0.name.map { $0 == keyName } ?? true }
        if policy.unsafeMethods == .withIdempotencyKey, hasKey { return faults }
        let problem =
            policy.unsafeMethods == .never && hasKey
            ? "the retry policy never repeats a \(plan.method), even with an idempotency key"
            : "the retry policy can never repeat the call: a \(plan.method) isn't idempotent"
        let fix =
            policy.unsafeMethods == .never && hasKey
            ? "set its unsafeMethods to .withIdempotencyKey"
            : "add .idempotent() if several requests have the effect of one, or .idempotencyKey() if the service honors keys; otherwise "
                + "remove .retry(…)"
        faults.append(fault((problem, fix), key: key))
        return faults
    }

    /// Returns the faults of attributes by themselves.
    static func faults(_ attributes: EndpointAttributes, key: String?) -> [TableFault] {
        guard !attributes.isEmpty else { return [] }
        let problems = (attributes[RetryPolicy.self]?.problems ?? []) + [attributes[IdempotencyKey.self]?.problem].compactMap(\.self)
        return problems.map { fault($0, key: key) }
    }

    private static func fault(_ problem: (problem: String, fix: String), key: String?) -> TableFault {
        TableFault(kind: .badRetry, key: key, problem: problem.problem, fix: problem.fix)
    }
}
