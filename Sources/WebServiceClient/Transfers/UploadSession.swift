public import Foundation

/// An upload that has begun. A program keeps it to continue the upload after a restart.
///
///     options.session = try JSONDecoder().decode(UploadSession.self, from: kept)
///     options.sessionChanged = { session in keep(session) }
///
/// Its URL is a secret, because it suffices to upload. Descriptions hide it.
public struct UploadSession: Sendable, Hashable, Codable {
    /// The URL that the pieces are sent to.
    public let url: URL
    /// The length of the file in bytes.
    public let length: Int64
    /// The time of the file's last change, in nanoseconds since 1970.
    public let modified: Int64
    /// The end of the session, if the server gave one.
    public internal(set) var expires: Date?
    /// The protocol of the session.
    let kind: UploadProtocol.Kind
    /// The version of the format.
    let version: Int

    static let currentVersion = 1

    init(url: URL, source: UploadSource, kind: UploadProtocol.Kind, expires: Date?) {
        self.url = url
        length = source.length
        modified = source.modified
        self.expires = expires
        self.kind = kind
        version = Self.currentVersion
    }

    /// Whether the session can be used with this protocol.
    func isUsable(by rules: UploadProtocol) -> Bool {
        guard version == Self.currentVersion, kind == rules.kind, length >= 0 else { return false }
        return ["http", "https"].contains(Origin(url)?.scheme ?? "")
    }

    /// Whether the file is the one that the session was created for.
    func fits(_ source: UploadSource) -> Bool { length == source.length && modified == source.modified }

    /// Reads a session from a file that only this user can access; `nil` if there is none.
    static func stored(in file: URL) -> UploadSession? {
        PartialFile.content(of: file.path(percentEncoded: false)).flatMap { try? JSONDecoder().decode(UploadSession.self, from: $0) }
    }

    /// Writes the session to a file with the mode 0600, atomically.
    func store(in file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try PartialFile.replace(file.path(percentEncoded: false), with: encoder.encode(self))
    }
}

extension UploadSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The protocol and the length of the file.
    public var description: String { "UploadSession(\(kind.rawValue), \(length) bytes)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// The same as ``description``: a dump doesn't show the URL.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind.rawValue, "length": length]) }
}

/// How a file is uploaded in pieces.
public struct UploadOptions: Sendable {
    /// What happens if the file isn't the one that the session was created for, because it has another length or modification time.
    public enum ChangedFile: String, Sendable, Hashable, CaseIterable {
        /// The upload fails with ``TransferError/Reason/sourceChanged``.
        case fail
        /// The upload begins with a new session.
        case startOver
    }

    /// A file that keeps the session, so that an upload continues after a restart of the program. It has the mode 0600, is replaced
    /// atomically, and is removed when the upload is complete or the session has ended. Use one for each upload. Default `nil`: none.
    public var sessionFile: URL?
    /// The session to continue. It takes precedence over the one in ``sessionFile``.
    public var session: UploadSession?
    /// Called with each new or changed session, and with `nil` when the upload is complete or the session has ended, for programs that keep
    /// sessions themselves.
    public var sessionChanged: (@Sendable (UploadSession?) -> Void)?
    /// What happens if the file has changed since the session began. Default ``ChangedFile/fail``.
    public var changedFile: ChangedFile
    /// Whether and when an interrupted upload continues; `nil`, the default, for the policy of the call. The number of attempts and the
    /// total time count from the last progress.
    public var retry: RetryPolicy?

    /// Creates options.
    public init(
        sessionFile: URL? = nil, session: UploadSession? = nil, changedFile: ChangedFile = .fail, retry: RetryPolicy? = nil,
        sessionChanged: (@Sendable (UploadSession?) -> Void)? = nil
    ) {
        self.sessionFile = sessionFile
        self.session = session
        self.changedFile = changedFile
        self.retry = retry
        self.sessionChanged = sessionChanged
    }

    /// - Throws: ``TransferError`` for options that make no sense.
    func check() throws(TransferError) {
        if let sessionFile, !sessionFile.isFileURL {
            throw TransferError(.unusable, "UploadOptions.sessionFile isn't a file URL: use URL(filePath:).")
        }
        if let problem = retry?.problems.first {
            throw TransferError(.unusable, "UploadOptions.retry: \(problem.problem); \(problem.fix).")
        }
    }
}
