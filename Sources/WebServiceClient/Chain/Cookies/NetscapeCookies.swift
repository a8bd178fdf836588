import Foundation

/// The cookie files of curl, wget and Python's `MozillaCookieJar`, a format of Netscape: one cookie per line, seven fields between tabs.
///
///     # Netscape HTTP Cookie File
///     .example.com   TRUE    /        TRUE    1893456000   theme   dark
///     #HttpOnly_api.example.com  FALSE   /v1      TRUE    0            sid     31d4d96e407aad42
///
/// The fields are the domain (with a dot if its subdomains are included), whether they are, the path, whether the cookie is `Secure`, its
/// end in seconds since 1970 (0 for a session cookie), the name and the value. `#HttpOnly_` before the domain isn't a comment.
///
/// The format has no `SameSite` and no date of creation. A jar's own file keeps them in a comment before the cookie's line.
enum NetscapeCookies {
    static let head = "# Netscape HTTP Cookie File\n"
    private static let httpOnly = Array("#HttpOnly_".utf8)
    /// The beginning of the comments with the further attributes.
    private static let further = Array("#@ ".utf8)

    /// Returns the cookies as a file.
    ///
    /// A name or a path with a tab has no place in the format, so its cookie is left out.
    ///
    /// - Parameter comment: A line that states the origin of the file, without `#`.
    /// - Parameter hasFurther: Whether the comments with the further attributes are written.
    static func data(of cookies: [Cookie], comment: String = "", hasFurther: Bool = false) -> Data {
        var bytes = Array(head.utf8)
        if !comment.isEmpty { bytes += Array("# \(comment)\n".utf8) }
        for cookie in cookies where !cookie.nameBytes.contains(9) && !cookie.path.utf8.contains(9) {
            if hasFurther {
                bytes += further
                bytes += Array("created=\(second(cookie.created))".utf8)
                if let sameSite = cookie.sameSite { bytes += Array(" samesite=\(sameSite.rawValue)".utf8) }
                bytes.append(10)
            }
            if cookie.isHTTPOnly { bytes += httpOnly }
            let end = cookie.expires.map { max(1, second($0)) } ?? 0
            let fields = [
                (cookie.isHostOnly ? "" : ".") + cookie.domain, cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path,
                cookie.isSecure ? "TRUE" : "FALSE", String(end), "",
            ]
            bytes += Array(fields.joined(separator: "\t").utf8)
            bytes += cookie.nameBytes
            bytes.append(9)
            bytes += cookie.valueBytes
            bytes.append(10)
        }
        return Data(bytes)
    }

    /// Returns the cookies of a file, in its order, and the numbers of the lines, from 1, that are neither cookie, comment nor blank.
    ///
    /// As with curl, a line may lack its path or its value.
    static func cookies(in data: Data, now: Date) -> (cookies: [Cookie], unread: [Int]) {
        var cookies: [Cookie] = []
        var unread: [Int] = []
        var attributes: (created: Date?, sameSite: Cookie.SameSite?)
        for (number, line) in data.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            var line = Array(line)
            if line.last == 13 { line.removeLast() }
            if line.starts(with: further) {
                attributes = furtherAttributes(line)
                continue
            }
            let isHTTPOnly = line.starts(with: httpOnly)
            if isHTTPOnly { line.removeFirst(httpOnly.count) } else if line.first == UInt8(ascii: "#") { continue }
            defer { attributes = (nil, nil) }
            guard !line.allSatisfy({ $0 == 32 || $0 == 9 }) else {
                if isHTTPOnly { unread.append(number + 1) }
                continue
            }
            if let cookie = cookie(line, isHTTPOnly: isHTTPOnly, attributes.created ?? now, attributes.sameSite) {
                cookies.append(cookie)
            } else {
                unread.append(number + 1)
            }
        }
        return (cookies, unread)
    }

    private static func cookie(_ line: [UInt8], isHTTPOnly: Bool, _ created: Date, _ sameSite: Cookie.SameSite?) -> Cookie? {
        var fields = line.split(separator: 9, maxSplits: 6, omittingEmptySubsequences: false)
        // Old files have no path, and empty values no field.
        if fields.count > 2, flag(fields[2]) != nil {
            fields = line.split(separator: 9, maxSplits: 5, omittingEmptySubsequences: false)
            guard fields.count > 2 else { return nil }
            fields.insert(ArraySlice("/".utf8), at: 2)
        }
        if fields.count == 6 { fields.append([]) }
        // Python writes no number for session cookies.
        guard fields.count == 7, let includesSubdomains = flag(fields[1]), let isSecure = flag(fields[3]),
            let end = fields[4].isEmpty ? 0 : Int64(text(fields[4])), end >= 0
        else { return nil }
        let domain = fields[0].first == UInt8(ascii: ".") ? fields[0].dropFirst() : fields[0]
        let host = PublicSuffixes.ascii(IPAddress.canonical(text(domain)))
        let cookie = Cookie(
            nameBytes: Array(fields[5]), valueBytes: Array(fields[6]), domain: host, isHostOnly: !includesSubdomains, path: text(fields[2]),
            isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
            expires: end == 0 ? nil : Date(timeIntervalSince1970: TimeInterval(min(end, latest))), created: created)
        return cookie.fault == nil ? cookie : nil
    }

    private static func furtherAttributes(_ line: [UInt8]) -> (created: Date?, sameSite: Cookie.SameSite?) {
        var result: (created: Date?, sameSite: Cookie.SameSite?)
        for word in line.dropFirst(further.count).split(separator: 32) {
            let parts = word.split(separator: UInt8(ascii: "="), maxSplits: 1).map { text($0) }
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "created":
                guard let second = Int64(parts[1]), (0...latest).contains(second) else { continue }
                result.created = Date(timeIntervalSince1970: TimeInterval(second))
            case "samesite": result.sameSite = Cookie.SameSite(rawValue: parts[1])
            default: continue
            }
        }
        return result
    }

    private static func flag(_ field: ArraySlice<UInt8>) -> Bool? {
        switch text(field).uppercased() {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { Cookie.text(Array(bytes)) }

    /// The end of the year 9999.
    private static let latest: Int64 = 253_402_300_799

    private static func second(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970
        return seconds.isNaN ? 0 : Int64(min(max(seconds.rounded(.down), 0), TimeInterval(latest)))
    }
}
