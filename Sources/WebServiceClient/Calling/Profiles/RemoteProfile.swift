public import Foundation

/// Replaces a client's profile by newer versions from the network, while the program runs.
///
///     let remote = try RemoteProfile(
///         of: shop, at: address, signature: .ed25519(publicKeys: key),
///         recordedIn: folder.appending(path: "shop-profile.json"))
///     let following = Task { await remote.follow() }
///
/// A profile is accepted only if
/// * its signature is valid (``ProfileSignature``), and it has at most 1 MiB;
/// * its `Version` is higher than each accepted one, which a file keeps over restarts, and its `Expires` hasn't passed;
/// * its `BaseURL` is empty, or has the origin of the client's or class's service root or one of
///   ``WebServiceClient/WebServiceClient/Configuration/allowedOrigins``, even if it is the client's first profile;
/// * ``WebServiceClient/WebServiceClient/verify(_:)`` finds no fault.
///
/// Then it is on trial: if too many of the first calls to changed endpoints fail (``Canary``), the previous profile is restored, and this
/// version isn't accepted any more. Each refusal is reported to the client's diagnostics once.
///
/// The client's own transport fetches the profile and its signature, without credentials and headers of the service, and with its trust
/// policy. An `ETag` saves fetching the same profile again.
public final class RemoteProfile: Sendable {
    /// The trial of a new profile.
    public struct Canary: Sendable, Hashable {
        /// The number of calls to changed endpoints after which the trial ends. At least 1.
        public var calls: Int
        /// The share of these calls that may fail, from 0 to 1.
        public var failureRate: Double

        /// Creates a trial. Calls count as failures if the server's answer isn't the expected one: its status, its format or its content.
        /// Calls without an answer don't count, and neither do answers with the statuses 401, 407, 408, 425, 429 and 503.
        public init(calls: Int = 20, failureRate: Double = 0.5) {
            self.calls = calls
            self.failureRate = failureRate
        }

        /// The most failures of all calls.
        var allowedFailures: Int { Int((Double(calls) * failureRate).rounded(.down)) }

        fileprivate var isValid: Bool { (1...1_000_000).contains(calls) && (0...1).contains(failureRate) }
    }

    /// The outcome of an update.
    public enum Update: Sendable {
        /// The client already has the profile.
        case unchanged
        /// The client has a new profile.
        case replaced(ProfileGeneration)
    }

    /// The maximum size of a profile in bytes.
    public static let sizeLimit = 1 << 20

    private struct State {
        /// The entity tag of the last profile that was accepted.
        var entityTag: String?
        /// The digest of the last profile that was accepted.
        var digest: String?
        /// The refusal that was reported last.
        var lastReport = ""
    }

    private let client: WebServiceClient
    private let url: URL
    private let signature: ProfileSignature
    private let file: AcceptedProfileFile
    private let interval: Duration
    private let canary: Canary?
    private let state = Locked(State())

    /// Prepares to fetch profiles; nothing is fetched yet.
    ///
    /// - Parameters:
    ///   - client: The client that gets the profiles.
    ///   - url: The profile's URL. Redirects that leave its origin aren't followed.
    ///   - signature: How profiles are signed. There is no default: ``ProfileSignature/unsigned`` must be stated.
    ///   - file: The file that keeps the accepted profile with its version, so that the program has it again after a restart, and accepts
    ///     no
    ///     older one. It needn't exist. It is replaced as a whole, and only its owner can read it.
    ///   - interval: The time between two fetches of ``follow()``. Default 1 hour.
    ///   - canary: The trial of each new profile; `nil` for none.
    /// - Throws: ``RemoteProfileError`` with the reason ``RemoteProfileError/Reason/badSettings``.
    public init(
        of client: WebServiceClient, at url: URL, signature: ProfileSignature, recordedIn file: URL,
        every interval: Duration = .seconds(3_600),
        canary: Canary? = Canary()
    ) throws(RemoteProfileError) {
        func fault(_ text: String) -> RemoteProfileError {
            RemoteProfileError(.badSettings, "The remote profile of \(String(describing: type(of: client))) can't be used: \(text)")
        }
        guard let origin = Origin(url), origin.scheme == "https" || origin.scheme == "http" else {
            throw fault("\(SecretMask.text(of: url)) isn't an absolute https or http URL.")
        }
        guard signature.isDetached || origin.scheme == "https" else {
            throw fault("an unsigned profile over http can come from anyone: use https, or sign the profile.")
        }
        if let problem = signature.fault { throw fault(problem) }
        guard interval > .zero else { throw fault("the interval is \(interval.text): give more than zero.") }
        guard canary?.isValid ?? true else { throw fault("the canary needs 1 to 1,000,000 calls and a failure rate from 0 to 1.") }
        self.client = client
        self.url = url
        self.signature = signature
        self.file = AcceptedProfileFile(PrivateFile(file, sizeLimit: 4 * Int64(Self.sizeLimit)))
        self.interval = interval
        self.canary = canary
    }

    /// Restores the accepted profile, and fetches it at intervals until the task is cancelled; until then the client isn't released.
    /// Refusals and failed fetches are reported to the client's diagnostics, each once, and the client keeps its profile.
    public func follow() async {
        _ = try? await restore()
        while !Task.isCancelled {
            _ = try? await update()
            do {
                try await client.pause(for: interval)
            } catch {
                return
            }
        }
    }

    /// Fetches the profile once, and replaces the client's profile if it is a newer version.
    ///
    /// - Throws: ``RemoteProfileError`` if the profile is refused, ``ServiceError`` if it can't be fetched, the error of
    ///   ``ProfileSignature/verified(by:)``, `CancellationError`. The client keeps its profile.
    @discardableResult
    public func update() async throws -> Update {
        try await reporting { try await self.fetched() }
    }

    /// Gives the client the profile that was accepted last and not rolled back, without a fetch: after a restart, the program has it even
    /// if the network is down. The file with it is checked like a fetched profile, with its signature. It is on trial again.
    ///
    /// - Returns: ``Update/unchanged`` if there is none.
    /// - Throws: ``RemoteProfileError`` if the profile is refused; the client keeps its profile.
    @discardableResult
    public func restore() async throws -> Update {
        try await reporting { try await self.restored() }
    }

    private func reporting(_ body: () async throws -> Update) async throws -> Update {
        do {
            let update = try await body()
            state.withLock { $0.lastReport = "" }
            return update
        } catch let error as RemoteProfileError {
            report(error.message, error.message)
            throw error
        } catch let error as ServiceError {
            // The text of a failure may differ each time.
            if error.kind != .cancelled { report("\(error.kind) \(error.status ?? 0)", "The profile can't be fetched: \(error.message)") }
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            let text = "The profile's signature can't be verified: \(ServiceError.text(of: error))"
            report(text, text)
            throw error
        }
    }

    /// Reports a refusal, unless it is the one that was reported last.
    private func report(_ identity: String, _ message: String) {
        let isNew = state.withLock { state in
            defer { state.lastReport = identity }
            return state.lastReport != identity
        }
        guard isNew else { return }
        client.configuration.diagnostics.report(.init(.warning, message + " The client keeps its profile."))
    }

    // MARK: Fetching

    private func fetched() async throws -> Update {
        let entityTag = state.withLock { $0.entityTag }
        let response = try await fetch(url, unless: entityTag)
        guard response.status != 304 else { return .unchanged }
        let signed = StoredProfile(profile: response.value, signature: signature.isDetached ? try await fetchSignature() : nil)
        try await checkSignature(of: signed)
        return try file.exclusively {
            let update = try accept(signed)
            state.withLock { $0.entityTag = response.headers["ETag"] }
            return update
        }
    }

    private func checkSignature(of stored: StoredProfile) async throws {
        guard signature.isDetached else { return }
        guard let bytes = stored.signature, try await signature.isValid(bytes, of: stored.profile) else {
            throw refusal(.signature, "the signature isn't valid for these bytes with any of the keys: sign again.")
        }
    }

    private func restored() async throws -> Update {
        while let stored = try file.read()?.current {
            try await checkSignature(of: stored)
            if let update = try file.exclusively({ try restore(stored) }) { return update }
        }
        return .unchanged
    }

    /// Gives the client a profile of the file, whose signature is valid; `nil` if the file has another one by now.
    private func restore(_ stored: StoredProfile) throws -> Update? {
        guard let last = try file.read(), last.current == stored else { return nil }
        let (profile, accepted) = try read(stored)
        // The version of an earlier profile than the rejected one isn't the file's.
        guard last.isRejected || accepted.digest == last.digest else {
            throw refusal(.record, "the file's profile isn't the accepted one: restore the file, or remove it to accept any version.")
        }
        guard state.withLock({ $0.digest }) == nil else { return .unchanged }
        try check(profile)
        let generation = try use(profile, accepted)
        state.withLock { $0.digest = accepted.digest }
        return .replaced(generation)
    }

    private func fetchSignature() async throws -> Data {
        // The suffix belongs to the path, before a query.
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        parts?.percentEncodedPath += ".sig"
        guard let place = parts?.url else { throw refusal(.signature, "its signature has no URL: give the profile a URL with a path.") }
        do {
            return try await fetch(place, unless: nil).value
        } catch let error as ServiceError where error.status == 404 || error.status == 410 {
            throw refusal(.signature, "there is no signature at \(SecretMask.text(of: place)): sign the profile, or state .unsigned.")
        }
    }

    private func fetch(_ url: URL, unless entityTag: String?) async throws -> ServiceResponse<Data> {
        let call = client.http.request(outside: url).describing {
            $0.raw().bodyLimit(Self.sizeLimit).uncached().redirects(.sameOrigin).accepting(entityTag == nil ? .ok : [200, 304])
        }
        do {
            guard let entityTag else { return try await call.response() }
            return try await call.header("If-None-Match", entityTag).response()
        } catch let error as ServiceError where error.kind == .bodyTooLarge {
            throw refusal(.tooLarge, "\(SecretMask.text(of: url)) has more than \(Self.sizeLimit >> 10) KiB: remove what it doesn't need.")
        }
    }

    // MARK: Accepting

    private func refusal(_ reason: RemoteProfileError.Reason, _ text: String) -> RemoteProfileError {
        RemoteProfileError(
            reason, "The profile at \(SecretMask.text(of: url)) of \(String(describing: type(of: client))) is refused: \(text)")
    }

    /// Reads bytes whose signature is valid.
    private func read(_ stored: StoredProfile) throws(RemoteProfileError) -> (profile: ServiceProfile, accepted: AcceptedProfile) {
        let profile: ServiceProfile
        do {
            profile = try ServiceProfile(data: stored.profile)
        } catch {
            let faults = (error as? ServiceProfileError)?.faults ?? [ServiceError.text(of: error)]
            throw refusal(.invalid, "it has faults:\n" + faults.map { "  - \($0)" }.joined(separator: "\n"))
        }
        guard let version = profile.version else { throw refusal(.noVersion, "it has no \"Version\": give it a rising whole number.") }
        if let expires = profile.expires, expires <= client.currentDate {
            throw refusal(.expired, "version \(version) has expired: publish one with a later \"Expires\".")
        }
        var hash = SHA256()
        stored.profile.withUnsafeBytes { hash.update($0) }
        let digest = hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return (profile, AcceptedProfile(version: version, digest: digest, stored: stored))
    }

    /// Replaces the client's profile by these bytes, whose signature is valid.
    private func accept(_ stored: StoredProfile) throws -> Update {
        let (profile, found) = try read(stored)
        var accepted = found
        let version = accepted.version
        if let last = try file.read() {
            guard version > last.version || version == last.version && accepted.digest == last.digest else {
                throw refusal(
                    .olderVersion,
                    version == last.version
                        ? "version \(version) has other content than the accepted version \(version): raise its \"Version\"."
                        : "it is version \(version), and version \(last.version) was accepted: raise its \"Version\".")
            }
            guard version > last.version || !last.isRejected else {
                throw refusal(.failedCanary, "too many calls failed with version \(version): correct it, and raise its \"Version\".")
            }
            accepted.earlier = version > last.version ? last.current : last.earlier
        }
        // Also unchanged if the program has rolled this version back: that decision stays in effect.
        guard state.withLock({ $0.digest }) != accepted.digest else { return .unchanged }
        let generation = try replace(profile, accepted)
        state.withLock { $0.digest = accepted.digest }
        return .replaced(generation)
    }

    private func replace(_ profile: ServiceProfile, _ accepted: AcceptedProfile) throws(RemoteProfileError) -> ProfileGeneration {
        try check(profile)
        // Before the profile is in use: if the version can't be kept, an older one would be accepted later.
        try file.write(accepted)
        return try use(profile, accepted)
    }

    private func use(_ profile: ServiceProfile, _ accepted: AcceptedProfile) throws(RemoteProfileError) -> ProfileGeneration {
        let before = client.profile
        let changes = ProfileChanges(of: type(of: client).endpoints, from: before, to: profile)
        let watch = canary.flatMap { changes.isEmpty ? nil : ProfileCanary(changes, $0, fail: rollBack(accepted)) }
        do {
            return try client.replaceProfile(profile, canary: watch)
        } catch {
            throw unfit(error)
        }
    }

    private func check(_ profile: ServiceProfile) throws(RemoteProfileError) {
        if !profile.baseURL.isEmpty { try checkOrigin(of: profile) }
        let faults = client.verify(profile)
        guard faults.isEmpty else { throw unfit(TableFaults(client: String(describing: type(of: client)), faults: faults)) }
    }

    /// Checks the origin of a profile's service root, even if the client doesn't use that root now.
    private func checkOrigin(of profile: ServiceProfile) throws(RemoteProfileError) {
        let (own, environment) = client.configurationAndEnvironment
        let configuration = environment?.applied(to: own, of: String(describing: type(of: client))) ?? own
        let roots = environment == nil ? [configuration.serviceRoot, client.ownRoot, client.profiles.root] : [configuration.serviceRoot]
        let root = roots.first { !$0.isEmpty } ?? ""
        let (origins, _) = ClientState.origins(configuration.allowedOrigins, of: "Configuration.allowedOrigins")
        if let fault = ClientState.fault(of: profile, programRoot: root, root: profile.baseURL, allowed: origins) {
            throw refusal(.otherOrigin, "\(fault)")
        }
        // A client without a service root uses that of its first profile, which the program sets. This profile comes from the network.
        guard root.isEmpty else { return }
        guard let origin = ServiceRoot(profile.baseURL)?.origin, origins.contains(origin) else {
            throw refusal(
                .otherOrigin,
                "the client has no service root, and \(SecretMask.text(ofURL: ServiceRoot.authority(of: profile.baseURL))) isn't among "
                    + "Configuration.allowedOrigins: set the root, or list the origin.")
        }
    }

    private func unfit(_ error: TableFaults) -> RemoteProfileError {
        let leaves = error.faults.contains { $0.kind == .badServiceRoot }
        return refusal(leaves ? .otherOrigin : .unfit, error.description)
    }

    /// Returns the function that ends a failed trial. It doesn't retain the client, which retains it.
    private func rollBack(_ accepted: AcceptedProfile) -> @Sendable (_ generation: Int, _ calls: Int, _ failures: Int) -> Void {
        { [weak client, file] generation, calls, failures in
            guard let client else { return }
            let diagnostics = client.configuration.diagnostics
            let name = "Version \(accepted.version) of the profile of \(String(describing: type(of: client)))"
            do {
                guard let restored = try client.rollBackProfile(from: generation) else { return }
                diagnostics.report(
                    .init(
                        .warning, "\(name) was rolled back, since \(failures) of \(calls) calls failed. The client has \(restored) again."))
            } catch {
                diagnostics.report(.init(.warning, "\(name) can't be rolled back. \(error)"))
            }
            do {
                try file.exclusively {
                    guard var last = try file.read() else { return }
                    if last.version == accepted.version {
                        last.isRejected = true
                    } else if last.earlier == accepted.stored {
                        // The client returned to it at a restart, and now it fails too.
                        last.earlier = nil
                    } else {
                        return
                    }
                    try file.write(last)
                }
            } catch {
                diagnostics.report(.init(.warning, "The failure of \(name) can't be recorded. \(error)"))
            }
        }
    }
}
