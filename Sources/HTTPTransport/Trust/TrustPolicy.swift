/// The trusted authorities, pins and client identity for secure connections, supported by every transport with these capabilities.
///
///     var trust = TrustPolicy()
///     trust.authorities = .system(adding: try Certificate.certificates(inFile: companyRoots))
///     trust.pins["api.example.com"] = [.publicKey(sha256: inUse), .publicKey(sha256: backup)]
///     client.configure { $0.trust = trust }
///
/// A policy can add authorities, restrict what is accepted, and identify the client. It can't disable a check. A client whose transport
/// doesn't support its policy makes no call.
///
/// The content is stored by reference: a policy takes eight bytes in a request, and is copied when it is changed.
public struct TrustPolicy: Sendable, Hashable {
    private var storage: Storage

    /// Creates a policy that trusts the system's authorities, without other settings.
    public init() {
        storage = .standard
    }

    /// Creates a policy.
    public init(
        authorities: CertificateAuthorities = .system, identity: ClientIdentity? = nil, pins: [HostPattern: PinSet] = [:],
        minimumTLSVersion: TLSVersion? = nil
    ) {
        storage = Storage(
            Content(authorities: authorities, identity: identity, pins: pins, minimumTLSVersion: minimumTLSVersion))
    }

    /// The trusted authorities. Default: those of the system.
    public var authorities: CertificateAuthorities {
        get { storage.content.authorities }
        set { change { $0.authorities = newValue } }
    }

    /// The client's certificate and key, for services that ask for them. A client presents them only to the origin of its service root.
    /// ``CurlTransport/Configuration/trust`` presents them to every origin that asks.
    public var identity: ClientIdentity? {
        get { storage.content.identity }
        set { change { $0.identity = newValue } }
    }

    /// The keys and certificates required of hosts, in addition to the full check. Pins of a host override wildcard pins; a host
    /// without pins gets only the usual check. Hosts with pins aren't called without TLS.
    public var pins: [HostPattern: PinSet] {
        get { storage.content.pins }
        set { change { $0.pins = newValue } }
    }

    /// The lowest TLS version; `nil` leaves it to the transport, which accepts none below 1.2 unless its system is configured to.
    public var minimumTLSVersion: TLSVersion? {
        get { storage.content.minimumTLSVersion }
        set { change { $0.minimumTLSVersion = newValue } }
    }

    /// The faults of the policy, each with its fix. A client with faults makes no call.
    public var faults: [String] { storage.faults }
}

extension TrustPolicy {
    /// The number of the storage, which is never reused, so a transport can cache what it has prepared for a policy. Separately created
    /// policies have different numbers even if they are equal.
    package var storageID: UInt64 { storage.id }

    /// Whether the policy consists of the system's authorities only.
    package var isStandard: Bool { storage.isStandard }

    /// The same policy without the identity, for other origins. It is created once per storage.
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
                faults.append("no authority is trusted, so every server fails the check: pass a certificate to .only(…), or use .system")
            }
            for (pattern, set) in pins.sorted(by: { $0.key.description < $1.key.description }) {
                if let fault = pattern.fault { faults.append("the pins' pattern \(fault)") }
                if set.pins.isEmpty {
                    faults.append("\(pattern) has an empty set of pins, which nothing matches: pin a key, or remove it")
                }
                faults += set.pins.compactMap { pin in pin.fault.map { "for \(pattern), \($0)" } }
            }
            return faults
        }
    }

    /// The immutable content. A change creates another storage.
    private final class Storage: Sendable {
        static let standard = Storage(Content())
        private static let last = Locked<UInt64>(0)

        let id: UInt64
        let content: Content
        let isStandard: Bool
        let faults: [String]
        /// The same content without the identity, if there is one.
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

    /// Whether two policies have the same settings.
    public static func == (left: TrustPolicy, right: TrustPolicy) -> Bool {
        left.storage === right.storage || left.storage.content == right.storage.content
    }

    /// Hashes the policy's settings.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.content) }
}

extension TrustPolicy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The settings, without secrets.
    public var description: String {
        var parts = ["trusts \(authorities)"]
        if let identity { parts.append("\(identity)") }
        if !pins.isEmpty { parts.append("pins for " + pins.keys.map(\.description).sorted().joined(separator: ", ")) }
        if let minimumTLSVersion { parts.append("\(minimumTLSVersion) or later") }
        return parts.joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The settings, without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The authorities that may issue a server's certificate.
public struct CertificateAuthorities: Sendable, Hashable, CustomStringConvertible {
    /// Whether the system's authorities are trusted.
    public let includesSystem: Bool
    /// The authorities that are trusted in addition to the system's, or instead of them.
    public let certificates: [Certificate]

    /// Only the system's authorities.
    public static let system = CertificateAuthorities(includesSystem: true, certificates: [])

    /// Returns the system's authorities and the given ones.
    public static func system(adding certificates: [Certificate]) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: true, certificates: certificates)
    }

    /// Returns only the given authorities.
    public static func only(_ certificates: [Certificate]) -> CertificateAuthorities {
        CertificateAuthorities(includesSystem: false, certificates: certificates)
    }

    /// Whether these are only the system's authorities.
    public var isSystem: Bool { includesSystem && certificates.isEmpty }

    /// The additional authorities in PEM, one after the other.
    public var pem: String { certificates.map(\.pem).joined() }

    /// The names of the authorities.
    public var description: String {
        let names = certificates.map { $0.subjectName ?? "an unnamed authority" }.joined(separator: ", ")
        return (includesSystem ? ["the system's authorities"] : []).joined() + (includesSystem && !names.isEmpty ? " and " : "") + names
    }
}

/// A minimum version of TLS. Versions before 1.2 aren't secure (RFC 8996) and can't be selected.
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
