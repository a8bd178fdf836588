/// Whom to trust at the other end of a secure connection, and who to be: a value that every capable transport honours.
///
///     var trust = TrustPolicy()
///     trust.authorities = .system(adding: try Certificate.certificates(inFile: companyRoots))
///     trust.pins["api.example.com"] = [.publicKey(sha256: inUse), .publicKey(sha256: backup)]
///     client.configure { $0.trust = trust }
///
/// It may add authorities, narrow what is accepted, and name the client; nothing in it switches a check off. A client whose transport can't
/// honour its policy makes no call.
///
/// The content sits behind one reference, so that a policy costs a request eight bytes, and is copied when it is changed.
public struct TrustPolicy: Sendable, Hashable {
    private var storage: Storage

    /// The system's authorities, and nothing else.
    public init() {
        storage = .standard
    }

    /// A policy that says all at once.
    public init(
        authorities: CertificateAuthorities = .system, identity: ClientIdentity? = nil, pins: [HostPattern: PinSet] = [:],
        minimumTLSVersion: TLSVersion? = nil
    ) {
        storage = Storage(
            Content(authorities: authorities, identity: identity, pins: pins, minimumTLSVersion: minimumTLSVersion))
    }

    /// Whom to believe when they vouch for a server. Default: whom the system believes.
    public var authorities: CertificateAuthorities {
        get { storage.content.authorities }
        set { change { $0.authorities = newValue } }
    }

    /// Who the client is, for services that ask for its certificate. A client shows it to the origin of its service root
    /// and to no other; in ``CurlTransport/Configuration/trust`` it is shown to every origin that asks.
    public var identity: ClientIdentity? {
        get { storage.content.identity }
        set { change { $0.identity = newValue } }
    }

    /// The keys and certificates that hosts must have, on top of the full check. Pins of a host win over those of a wildcard; a host
    /// without pins is checked as usual. One that has some isn't called without TLS.
    public var pins: [HostPattern: PinSet] {
        get { storage.content.pins }
        set { change { $0.pins = newValue } }
    }

    /// The lowest version of TLS; `nil` leaves it to the transport, which takes none below 1.2 unless its system is told to.
    public var minimumTLSVersion: TLSVersion? {
        get { storage.content.minimumTLSVersion }
        set { change { $0.minimumTLSVersion = newValue } }
    }

    /// What can't be right, each with what to do. A client with faults makes no call.
    public var faults: [String] { storage.faults }
}

extension TrustPolicy {
    /// Tells storages apart, and is never used again, so that a transport can keep what it has prepared for a policy by it. Policies that
    /// were made apart have different numbers even when they are equal.
    package var storageID: UInt64 { storage.id }

    /// Whether this is the system's authorities and nothing else.
    package var isStandard: Bool { storage.isStandard }

    /// The same without the identity: what another origin gets. It is made once for each storage.
    package var withoutIdentity: TrustPolicy {
        guard let anonymous = storage.anonymous else { return self }
        var copy = self
        copy.storage = anonymous
        return copy
    }

    private struct Content: Sendable, Hashable {
        var authorities: CertificateAuthorities = .system
        var identity: ClientIdentity?
        var pins: [HostPattern: PinSet] = [:]
        var minimumTLSVersion: TLSVersion?

        var faults: [String] {
            var faults: [String] = []
            if !authorities.includesSystem, authorities.certificates.isEmpty {
                faults.append("nobody is trusted, so that no server can pass: give .only(…) a certificate, or use .system")
            }
            for (pattern, set) in pins.sorted(by: { $0.key.description < $1.key.description }) {
                if let fault = pattern.fault { faults.append("the pins' pattern \(fault)") }
                if set.pins.isEmpty {
                    faults.append("\(pattern) has an empty set of pins, which nothing matches: pin a key, or take it out")
                }
                faults += set.pins.compactMap { pin in pin.fault.map { "of \(pattern), \($0)" } }
            }
            return faults
        }
    }

    /// The content, which never changes: a change makes another storage.
    private final class Storage: Sendable {
        static let standard = Storage(Content())
        private static let last = Locked<UInt64>(0)

        let id: UInt64
        let content: Content
        let isStandard: Bool
        let faults: [String]
        /// The same without the identity, where there is one.
        let anonymous: Storage?

        init(_ content: Content) {
            id = Self.last.withLock { last in
                last += 1
                return last
            }
            self.content = content
            isStandard = content == Content()
            faults = content.faults
            anonymous =
                content.identity.map { _ in
                    var copy = content
                    copy.identity = nil
                    return Storage(copy)
                }
        }
    }

    private mutating func change(_ change: (inout Content) -> Void) {
        var content = storage.content
        change(&content)
        guard content != storage.content else { return }
        storage = Storage(content)
    }

    /// Whether two policies say the same.
    public static func == (left: TrustPolicy, right: TrustPolicy) -> Bool {
        left.storage === right.storage || left.storage.content == right.storage.content
    }

    /// Hashes what the policy says.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.content) }
}

extension TrustPolicy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What the policy says, without secrets.
    public var description: String {
        var parts = ["trusts \(authorities)"]
        if let identity { parts.append("\(identity)") }
        if !pins.isEmpty { parts.append("pins for " + pins.keys.map(\.description).sorted().joined(separator: ", ")) }
        if let minimumTLSVersion { parts.append("\(minimumTLSVersion) or later") }
        return parts.joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// What the policy says, without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Whom to believe when they vouch for a server's certificate.
public struct CertificateAuthorities: Sendable, Hashable, CustomStringConvertible {
    /// Whether the authorities that the system trusts are believed.
    public let includesSystem: Bool
    /// The authorities that are believed beside, or in place of, the system's.
    public let certificates: [Certificate]

    /// Those that the system trusts, and no others.
    public static let system = CertificateAuthorities(includesSystem: true, certificates: [])

    /// Those that the system trusts, and these.
    public static func system(adding certificates: [Certificate]) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: true, certificates: certificates)
    }

    /// These, and no others.
    public static func only(_ certificates: [Certificate]) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: false, certificates: certificates)
    }

    /// Whether these are the system's and nothing else.
    public var isSystem: Bool { includesSystem && certificates.isEmpty }

    /// The own authorities in PEM, one after the other.
    public var pem: String { certificates.map(\.pem).joined() }

    /// Whom, as text.
    public var description: String {
        let names = certificates.map { $0.subjectName ?? "a nameless authority" }.joined(separator: ", ")
        return (includesSystem ? ["the system's authorities"] : []).joined() + (includesSystem && !names.isEmpty ? " and " : "") + names
    }
}

/// A version of TLS that a service may be asked for. What is older than 1.2 isn't secure (RFC 8996) and can't be asked for.
public enum TLSVersion: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    /// TLS 1.2 (RFC 5246).
    case tlsv12 = 12
    /// TLS 1.3 (RFC 8446).
    case tlsv13 = 13

    /// Whether a version is older than another.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    /// The version's name, such as `TLS 1.2`.
    public var description: String {
        switch self {
        case .tlsv12: "TLS 1.2"
        case .tlsv13: "TLS 1.3"
        }
    }
}
