#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// The names that most responses have: found by their bytes, so that no memory is asked for.
extension HTTPFields.Name {
    private struct Common: Sendable {
        let text: StaticString
        let name: HTTPFields.Name

        init(_ text: StaticString) {
            self.text = text
            name = HTTPFields.Name(text.description)
        }
    }

    private static let longestCommon = 32

    /// As HTTP/1.1 servers write them, and as HTTP/2 does; by length.
    private static let common: [Common] = {
        let texts: [StaticString] = [
            "Age", "age", "Date", "date", "ETag", "etag", "Etag", "Link", "link", "Vary", "vary", "Allow", "allow", "Server", "server",
            "Expires", "expires", "Location", "location", "Connection", "connection", "Keep-Alive", "keep-alive", "Retry-After",
            "retry-after", "Set-Cookie", "set-cookie", "X-Request-Id", "x-request-id", "X-Request-ID", "X-Powered-By", "x-powered-by",
            "Content-Type", "content-type", "Accept-Ranges", "accept-ranges", "Cache-Control", "cache-control", "Last-Modified",
            "last-modified", "Content-Length", "content-length", "OData-Version", "odata-version", "Content-Encoding", "content-encoding",
            "Content-Language", "content-language", "WWW-Authenticate", "www-authenticate", "Transfer-Encoding", "transfer-encoding",
            "Content-Disposition", "content-disposition", "X-Content-Type-Options", "x-content-type-options",
            "Strict-Transport-Security", "strict-transport-security",
        ]
        return texts.sorted { $0.utf8CodeUnitCount < $1.utf8CodeUnitCount }.map(Common.init)
    }()

    /// Where the names of each length begin, and behind the last where they end.
    private static let starts: [Int] = (0...longestCommon + 1).map { length in
        common.firstIndex { $0.text.utf8CodeUnitCount >= length } ?? common.endIndex
    }

    /// The common name of these bytes, as they are written; `nil` for others.
    static func common(_ bytes: UnsafeRawBufferPointer) -> HTTPFields.Name? {
        guard let start = bytes.baseAddress, bytes.count <= longestCommon else { return nil }
        var index = starts[bytes.count]
        let end = starts[bytes.count + 1]
        while index < end {
            if memcmp(start, common[index].text.utf8Start, bytes.count) == 0 { return common[index].name }
            index += 1
        }
        return nil
    }
}
