import Foundation

/// An authentication provider that can preserve the challenges of servers, so that the first call after a restart needs no 401.
///
/// ``ClientSession/save(to:including:)`` and ``ClientSession/load(from:)`` use it. A provider that wraps another one forwards both members.
public protocol ChallengePreserving: AuthenticationProvider {
    /// The challenges that the provider has received, without user names and passwords.
    var preservedChallenges: PreservedChallenges { get }

    /// Continues with preserved challenges, unless it has newer ones.
    func restore(_ challenges: PreservedChallenges)
}

/// The realms, nonces and counts of Digest sessions (RFC 7616 §3.3), as a value that can be stored.
///
/// It contains neither a password nor anything derived from one, so it doesn't suffice to authenticate. Use it in one process at a time,
/// because a server may refuse a nonce count that was used before.
public struct PreservedChallenges: Sendable, Hashable, Codable {
    /// The Digest session of an origin or a proxy.
    struct Entry: Sendable, Hashable, Codable {
        /// The origin; `nil` for a proxy.
        var origin: String?
        var realm: Data
        /// The current nonce.
        var nonce: Data
        /// The nonce that the session's key was derived from.
        var firstNonce: Data
        var opaque: Data?
        var algorithm: String?
        var quality: String?
        var hashesUserName: Bool
        var announcesUTF8: Bool
        var clientNonce: String?
        var count: UInt32
        var strongestHash: String?
    }

    var entries: [Entry]

    /// Whether there are no challenges.
    public var isEmpty: Bool { entries.isEmpty }

    init(_ entries: [Entry]) {
        self.entries = entries.sorted { ($0.origin ?? "") < ($1.origin ?? "") }
    }

    /// Reads challenges.
    ///
    /// - Throws: `DecodingError` if one of them can't be used.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        entries = try container.decode([Entry].self)
        guard entries.count <= DigestSessions.scopeLimit, entries.allSatisfy({ $0.challenge != nil }) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a preserved challenge can't be used")
        }
    }

    /// Writes the challenges.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(entries)
    }
}

extension PreservedChallenges.Entry {
    init?(_ session: DigestSession, of scope: AuthenticationScope, used count: UInt32, strongest: DigestAlgorithm.Function?) {
        // A session without an origin can't be found again, unless it is a proxy's.
        guard scope.target == .proxy || scope.origin != nil else { return nil }
        let challenge = session.challenge
        self.init(
            origin: scope.origin?.description, realm: Data(challenge.realm.content), nonce: Data(session.nonce.content),
            firstNonce: Data(session.firstNonce.content), opaque: challenge.opaque.map { Data($0.content) },
            algorithm: challenge.algorithmName, quality: challenge.quality?.rawValue, hashesUserName: challenge.hashesUserName,
            announcesUTF8: challenge.announcesUTF8, clientNonce: session.sessionClientNonce, count: count,
            strongestHash: strongest?.rawValue)
    }

    /// The strongest hash that the origin has offered.
    var strongest: DigestAlgorithm.Function? { strongestHash.flatMap { DigestAlgorithm.Function(rawValue: $0) } }

    /// The scope and the challenge; `nil` if they can't be used.
    var challenge: (AuthenticationScope, DigestChallenge)? {
        let scope: AuthenticationScope
        if let origin {
            guard let url = URL(string: origin), let place = Origin(url) else { return nil }
            scope = AuthenticationScope(target: .origin, origin: place)
        } else {
            scope = AuthenticationScope(target: .proxy, origin: nil)
        }
        let known = quality.map { DigestQuality(rawValue: $0) }
        if case .some(.none) = known { return nil }
        guard
            let challenge = DigestChallenge(
                realm: QuotedText(content: Array(realm)), nonce: QuotedText(content: Array(nonce)),
                opaque: opaque.map { QuotedText(content: Array($0)) }, algorithmName: algorithm, quality: known ?? nil,
                hashesUserName: hashesUserName, announcesUTF8: announcesUTF8),
            QuotedString.canCarry(QuotedText(content: Array(firstNonce))), QuotedString.canCarry(clientNonce ?? ""),
            QuotedString.canCarry(algorithm ?? ""), challenge.algorithm.isSession == (clientNonce != nil)
        else { return nil }
        return (scope, challenge)
    }

    /// The session of a user.
    func session(_ challenge: DigestChallenge, _ user: UserCredentials) -> DigestSession {
        DigestSession(
            challenge, user: user, nonce: QuotedText(content: Array(nonce)), firstNonce: QuotedText(content: Array(firstNonce)),
            clientNonce: clientNonce)
    }
}

extension PreservedChallenges: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The origins, without the realms and nonces.
    public var description: String { "challenges of " + entries.map { $0.origin ?? "a proxy" }.joined(separator: ", ") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The origins, without the realms and nonces.
    public var customMirror: Mirror { Mirror(self, children: ["origins": entries.map { $0.origin ?? "a proxy" }]) }
}
