import Foundation
import WebServiceClient
import WebServiceTesting

/// A folder for the files of one case, removed with the last reference to it.
final class ConformanceFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(
        path: "conformance-\(UUID().uuidString)", directoryHint: .isDirectory)
    private let count = Locked(0)

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Creates a file with these bytes.
    func file(_ data: Data) throws -> URL {
        let file = newURL()
        try data.write(to: file)
        return file
    }

    /// Creates a sparse file of zeros, which takes no disk space.
    func sparseFile(_ count: UInt64) throws -> URL {
        let file = try file(Data())
        try Self.truncate(file, to: count)
        return file
    }

    /// Changes the length of a file.
    static func truncate(_ file: URL, to count: UInt64) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: count)
        try handle.close()
    }

    private func newURL() -> URL {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return url.appending(path: "\(number)", directoryHint: .notDirectory)
    }
}

extension RequestBody {
    /// Returns a streamed body in pieces of a size.
    static func pieces(of data: Data, by size: Int, length: Int64? = nil) -> RequestBody {
        RequestBody(length: length) {
            AsyncThrowingStream { continuation in
                var rest = data
                while !rest.isEmpty {
                    continuation.yield(Data(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                continuation.finish()
            }
        }
    }
}
