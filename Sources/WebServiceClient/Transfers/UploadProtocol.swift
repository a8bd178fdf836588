import Foundation

/// The protocol by which a service accepts a file in pieces.
///
///     try await drive.transfers.upload(video, by: .google) { try await $0.create(metadata) }
public struct UploadProtocol: Sendable, Hashable, CustomStringConvertible {
    /// The protocols.
    enum Kind: String, Sendable, Hashable, Codable {
        case tus
        case google
        case oneDrive
    }

    /// The algorithms of ``tus(metadata:pieces:checksum:sendsSmallFilesAtOnce:)`` for checksums of pieces.
    public enum Checksum: String, Sendable, Hashable, CaseIterable {
        /// SHA-1, which every server with the extension supports.
        case sha1
        /// MD5.
        case md5
        /// SHA-256, which some servers support.
        case sha256
    }

    let kind: Kind
    /// The maximum number of bytes of a piece; `nil` for the whole rest of the file.
    let pieces: Int64?
    /// The fields of `Upload-Metadata`.
    var metadata: [String: String] = [:]
    var checksum: Checksum?
    var sendsSmallFilesAtOnce = false

    private init(_ kind: Kind, pieces: Int64?) {
        (self.kind, self.pieces) = (kind, pieces)
    }

    /// tus 1.0 (https://tus.io/protocols/resumable-upload) with one request for the whole file.
    public static let tus = UploadProtocol.tus()

    /// tus 1.0: core, creation, expiration, and optionally checksums.
    ///
    /// The call is the POST that creates the upload. The library adds the fields of the protocol.
    ///
    /// - Parameters:
    ///   - metadata: The values of `Upload-Metadata`, such as `filename`. Keys have no spaces and no commas.
    ///   - pieces: The maximum number of bytes of a request, more than zero; `nil` for the whole rest of the file. With a checksum, the
    ///     default is 8 MiB.
    ///   - checksum: Sends a checksum of each piece (`Upload-Checksum`). The server must have this extension.
    ///   - sendsSmallFilesAtOnce: Whether a file of at most 64 KiB is sent within the POST. The server must have the extension
    ///     `creation-with-upload`.
    public static func tus(
        metadata: [String: String] = [:], pieces: Int? = nil, checksum: Checksum? = nil, sendsSmallFilesAtOnce: Bool = false
    ) -> UploadProtocol {
        var rules = UploadProtocol(.tus, pieces: pieces.map { Int64($0) } ?? (checksum == nil ? nil : 8 << 20))
        rules.metadata = metadata
        rules.checksum = checksum
        rules.sendsSmallFilesAtOnce = sendsSmallFilesAtOnce
        return rules
    }

    /// Google's resumable sessions with pieces of 8 MiB.
    public static let google = UploadProtocol.google(pieces: 8 << 20)

    /// Google's resumable sessions of Drive, YouTube and Cloud Storage: pieces with `Content-Range`, sent to the URL in the response's
    /// `Location`.
    ///
    /// The call is the POST with `uploadType=resumable`, whose body is the file's metadata. Its value is that of the last piece's response.
    ///
    /// - Parameter pieces: The number of bytes of a piece, a multiple of 262,144.
    public static func google(pieces: Int) -> UploadProtocol { UploadProtocol(.google, pieces: Int64(pieces)) }

    /// OneDrive's sessions with pieces of 10 MiB.
    public static let oneDrive = UploadProtocol.oneDrive(pieces: 10 << 20)

    /// Sessions of OneDrive and Microsoft Graph: pieces with `Content-Range`, sent without credentials to the `uploadUrl` in the response's
    /// JSON.
    ///
    /// The call is the POST to `createUploadSession`. Its value is that of the last piece's response.
    ///
    /// - Parameter pieces: The number of bytes of a piece, a multiple of 327,680 and less than 60 MiB.
    public static func oneDrive(pieces: Int) -> UploadProtocol { UploadProtocol(.oneDrive, pieces: Int64(pieces)) }

    /// The name of the protocol.
    public var description: String { kind.rawValue }

    /// - Throws: ``TransferError`` for rules that the service would refuse.
    func check(_ source: UploadSource) throws(TransferError) {
        if let pieces, pieces <= 0 { throw TransferError(.unusable, "A piece of an upload has \(pieces) bytes: use 1 or more.") }
        switch kind {
        case .tus:
            for key in metadata.keys where key.isEmpty || !key.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ",") }) {
                throw TransferError(
                    .unusable, "\"\(key)\" can't be a key of Upload-Metadata: use ASCII characters without spaces and commas.")
            }
        case .google:
            guard pieces?.isMultiple(of: 262_144) == true else {
                throw TransferError(.unusable, "Google takes pieces of a multiple of 262,144 bytes, not of \(pieces ?? 0).")
            }
        case .oneDrive:
            guard let pieces, pieces.isMultiple(of: 327_680), pieces < 60 << 20 else {
                throw TransferError(
                    .unusable, "OneDrive takes pieces of a multiple of 327,680 bytes and less than 60 MiB, not of \(pieces ?? 0).")
            }
            guard source.length > 0 else {
                throw TransferError(.unusable, "OneDrive has no upload sessions for empty files: upload the file in one request.")
            }
        }
    }

    /// The piece that begins at a position.
    func piece(from position: Int64, of length: Int64) -> Range<Int64> {
        position..<(length - position > pieces ?? .max ? position + (pieces ?? 0) : length)
    }

    /// Makes the requests of the protocol and reads their responses.
    var dialect: any UploadDialect {
        switch kind {
        case .tus: TusUpload(rules: self)
        case .google, .oneDrive: ContentRangeUpload(kind: kind)
        }
    }
}

/// The state of an upload, according to a response of its server.
enum UploadState: Hashable, Sendable {
    /// The server has the bytes before a position.
    case at(Int64)
    /// The server has the whole file, and this is its final response.
    case finished
    /// The position is unknown and must be asked for.
    case unknown
    /// The session doesn't exist any more.
    case gone
    /// The server is busy with the upload.
    case busy
}

/// The requests and responses of one upload protocol.
protocol UploadDialect: Sendable {
    /// The statuses that ``state(_:_:sent:_:)`` judges.
    var statuses: StatusSet { get }
    /// Whether sessions are on other origins and take no credentials.
    var isForeign: Bool { get }

    /// Adds the protocol's fields to the call that creates the session.
    func create(_ request: inout ServiceRequest, _ source: UploadSource) throws
    /// The session's URL, as written in the response.
    func location(_ response: TransportResponse, _ body: Data) throws -> String
    /// The state after the call that created the session.
    func created(_ response: TransportResponse, _ source: UploadSource) throws -> UploadState
    /// Makes the request for the position.
    func locate(_ request: inout ServiceRequest, _ source: UploadSource)
    /// Makes the request with a piece.
    func send(_ piece: Range<Int64>, _ request: inout ServiceRequest, _ source: UploadSource) throws
    /// Judges a response.
    ///
    /// - Parameter piece: The piece that was sent; `nil` if the position was asked for.
    func state(_ response: TransportResponse, _ body: Data, sent piece: Range<Int64>?, _ source: UploadSource) throws -> UploadState
    /// The end of the session according to a response; `nil` if it has none.
    func expiry(_ response: TransportResponse, _ body: Data) -> Date?
}
