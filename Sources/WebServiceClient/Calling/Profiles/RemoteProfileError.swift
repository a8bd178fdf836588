import Foundation

/// Why a ``RemoteProfile`` refuses a profile. The client keeps the profile that it has.
public struct RemoteProfileError: DescribedError, Sendable, Hashable {
    /// The kinds of reasons.
    public enum Reason: String, Sendable, CaseIterable {
        /// The settings of the ``RemoteProfile`` are invalid.
        case badSettings
        /// There is no signature, or it isn't valid for these bytes with any of the keys.
        case signature
        /// The profile is larger than 1 MiB.
        case tooLarge
        /// The bytes aren't a profile, for example because they are truncated.
        case invalid
        /// The profile has no `Version`.
        case noVersion
        /// An accepted profile has a higher `Version`, or the same one with other content.
        case olderVersion
        /// The profile's `Expires` has passed.
        case expired
        /// The profile's `BaseURL` has an origin that the program doesn't list.
        case otherOrigin
        /// The profile doesn't fit the client.
        case unfit
        /// Too many calls failed with this version, and it was rolled back.
        case failedCanary
        /// The file with the accepted version can't be read or written.
        case record
    }

    /// The kind of reason.
    public let reason: Reason
    /// What happened and how to fix it, as a sentence without secrets.
    public let message: String

    init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = VisibleText.of(message, keepsLineEnds: true)
    }

    /// The message.
    public var description: String { message }
}

/// The last profile that a ``RemoteProfile`` accepted, as its file has it.
struct AcceptedProfile: Codable, Hashable, Sendable {
    /// The profile's version.
    var version: Int
    /// The SHA-256 of the profile's bytes, in hexadecimal digits.
    var digest: String
    /// Whether the profile was rolled back.
    var isRejected = false
    /// The profile itself; `nil` in files of earlier versions.
    var stored: StoredProfile?
    /// The profile before it, for the case that this one is rolled back.
    var earlier: StoredProfile?

    /// The profile that a program begins with after a restart.
    var current: StoredProfile? { isRejected ? earlier : stored }
}

/// The bytes of an accepted profile with their signature.
struct StoredProfile: Codable, Hashable, Sendable {
    var profile: Data
    /// The detached signature; `nil` if profiles aren't signed.
    var signature: Data?
}

/// The file of an ``AcceptedProfile``.
struct AcceptedProfileFile: Sendable {
    private let file: PrivateFile
    private let turn = Locked(())

    init(_ file: PrivateFile) {
        self.file = file
    }

    /// Runs a body that reads the file, changes the client's profile and writes the file, while no other such body runs. Otherwise the
    /// client could get an older profile after a newer one.
    ///
    /// The lock is held while the body checks a profile, which asks the program's class for its endpoints. They can't wait for this lock,
    /// because updates are asynchronous.
    func exclusively<Result>(_ body: () throws -> Result) throws -> Result {
        try turn.withLock { _ in try body() }
    }

    /// Returns the content; `nil` if there is no file yet.
    func read() throws(RemoteProfileError) -> AcceptedProfile? {
        let content: Data?
        do {
            content = try file.read()
        } catch {
            throw RemoteProfileError(.record, "\(file.name) \(error.reason)")
        }
        guard let content else { return nil }
        do {
            return try JSONDecoder().decode(AcceptedProfile.self, from: content)
        } catch {
            // An empty record would accept any old version.
            throw RemoteProfileError(.record, "\(file.name) has no version of a profile: restore it, or remove it to accept any version.")
        }
    }

    /// Replaces the content.
    func write(_ accepted: AcceptedProfile) throws(RemoteProfileError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data: Data
        do {
            data = try encoder.encode(accepted)
        } catch {
            throw RemoteProfileError(.record, "The version for \(file.name) can't be encoded: \(SecretMask.text("\(error)"))")
        }
        do {
            try file.replace(with: data)
        } catch {
            throw RemoteProfileError(.record, "\(file.name) \(error.reason)")
        }
    }
}
