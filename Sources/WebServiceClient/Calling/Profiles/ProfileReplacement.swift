// The profiles of a live client.
extension WebServiceClient {
    /// The profile laid over the class's table, or `nil`. See ``replaceProfile(_:)``.
    public var profile: ServiceProfile? { profiles.current.profile }

    /// The generations of the client's endpoints, at most the last three: the oldest first, the current one last.
    public var profileHistory: [ProfileGeneration] { profiles.generations }

    /// Lays another profile over the class's table, or none. Replaces the endpoints atomically for later calls; calls in flight keep
    /// theirs. The endpoints get the next ``ProfileGeneration/number``.
    ///
    /// A profile has no faults by itself. If it doesn't fit this client, the method throws and the old profile stays. ``verify(_:)`` lists
    /// the faults without replacing anything.
    ///
    /// - Throws: ``TableFaults``, with every fault that the client would have with the profile and doesn't have without one.
    public func replaceProfile(_ profile: ServiceProfile?) throws(TableFaults) {
        try replaceProfile(profile, canary: nil)
    }

    /// Lays another profile over the class's table.
    ///
    /// - Parameter canary: Watches the first calls of the new generation.
    /// - Returns: The new generation.
    @discardableResult
    func replaceProfile(_ profile: ServiceProfile?, canary: ProfileCanary?) throws(TableFaults) -> ProfileGeneration {
        var generation = profiles.current
        try changeProfiles { (history) throws(TableFaults) in
            try self.check(profile)
            history.begin(profile, root: self.ownRoot, canary: canary)
            generation = history.current
        }
        return generation
    }

    /// Restores the previous generation of ``profileHistory``, with its number, and removes the current one from the history. Calls in
    /// flight keep their endpoints.
    ///
    /// - Returns: The restored generation; `nil` if there is no previous one, and nothing changes.
    /// - Throws: ``TableFaults`` if the previous profile doesn't fit the client any more, for example since its settings changed. The
    ///   current profile stays.
    @discardableResult
    public func rollBackProfile() throws(TableFaults) -> ProfileGeneration? {
        try rollBackProfile(from: nil)
    }

    /// Restores the previous generation.
    ///
    /// - Parameter number: The generation that must be the current one; `nil` for any.
    @discardableResult
    func rollBackProfile(from number: Int?) throws(TableFaults) -> ProfileGeneration? {
        var restored: ProfileGeneration?
        try changeProfiles { (history) throws(TableFaults) in
            restored = nil
            guard number == nil || history.current.number == number, let previous = history.previous else { return }
            try self.check(previous.profile)
            history.rollBack()
            restored = previous
        }
        return restored
    }

    private func check(_ profile: ServiceProfile?) throws(TableFaults) {
        guard let profile else { return }
        let faults = verify(profile)
        guard faults.isEmpty else { throw TableFaults(client: String(describing: type(of: self)), faults: faults) }
    }

    /// The service root without a profile; empty if neither client nor class has one.
    var ownRoot: String {
        [configuration.serviceRoot, type(of: self).defaults.serviceRoot].first { !$0.isEmpty } ?? ""
    }
}
