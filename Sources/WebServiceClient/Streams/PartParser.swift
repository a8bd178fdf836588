package import Foundation
package import HTTPTransport

/// Splits a multipart body that arrives in pieces into its parts (RFC 2046 §5.1).
///
/// The line end before a delimiter belongs to the delimiter. Lines may end with LF alone, as some servers write them; blanks after the
/// boundary, the preamble and the epilogue are ignored. A line that isn't a field begins the part's body even without a blank line before
/// it. If the next delimiter follows within the fields, the part has no body. A multipart body without its last delimiter is truncated.
package struct PartParser: Sendable {
    /// The pieces of a multipart body.
    package enum Piece: Sendable, Equatable {
        /// A part begins, with these fields.
        case begin(HTTPFields)
        /// Bytes of the part's body, as they arrive.
        case data(Data)
        /// The part has ended.
        case end
    }

    private enum Stage { case preamble, fields, body, epilogue }

    private enum Match {
        /// More bytes are needed.
        case open
        case none
        /// A delimiter, up to a position in the buffer.
        case delimiter(isLast: Bool, end: Int)
    }

    /// The maximum number of blanks after a boundary.
    private static let paddingLimit = 256

    private let delimiter: [UInt8]
    private let fieldLimit: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var offset = 0
    private var stage = Stage.preamble
    private var isAtLineStart = true
    /// The number of bytes of the line end before ``start``, which belongs to a delimiter that follows.
    private var held = 0
    private var fields: [UInt8] = []
    private var ready: [Piece] = []
    private var isAtEnd = false
    /// Whether reading can't continue without more input.
    private var needsInput = false
    /// The number of parts that have begun.
    package private(set) var count = 0

    /// - Parameter fieldLimit: The maximum number of bytes of a part's fields.
    package init(boundary: String, fieldLimit: Int) {
        delimiter = Array("--\(boundary)".utf8)
        self.fieldLimit = max(0, fieldLimit)
    }

    /// Adds a piece, after ``next()`` has returned `nil`.
    package mutating func feed(_ piece: UnsafeRawBufferPointer) {
        if stage == .epilogue { return }
        let kept = start - held
        buffer.removeFirst(kept)
        offset += kept
        start = held
        buffer.append(contentsOf: piece)
    }

    /// Ends the input.
    package mutating func finish() { isAtEnd = true }

    /// Returns the next piece; `nil` if more input is needed.
    ///
    /// - Throws: ``StreamError`` for fields over the limit and a truncated body.
    package mutating func next() throws -> Piece? {
        while true {
            if !ready.isEmpty { return ready.removeFirst() }
            switch stage {
            case .epilogue:
                return nil
            case .preamble, .body:
                if let data = try readBody() { return .data(data) }
            case .fields:
                try readFields()
            }
            guard ready.isEmpty, stage == .epilogue || needsInput else { continue }
            if stage == .epilogue { return nil }
            if isAtEnd { throw truncated }
            return nil
        }
    }

    private var truncated: StreamError {
        let place = StreamPlace(element: max(count, 1), byte: offset + start)
        let fault =
            stage == .preamble && count == 0
            ? "has no delimiter with the boundary that its type names" : "ends before its last delimiter"
        return StreamError(.truncated, "the multipart body \(fault) (RFC 2046 §5.1.1)", at: place)
    }

    // MARK: Bodies

    /// Reads up to the next delimiter, and returns the bytes that certainly belong to the body.
    private mutating func readBody() throws -> Data? {
        let from = start - held
        var certain = from
        needsInput = false
        scan: while !needsInput {
            if isAtLineStart {
                switch match() {
                case .open:
                    needsInput = true
                    break scan
                case .delimiter(let isLast, let end):
                    certain = start - held
                    let data = data(from..<certain)
                    endPart(at: end, isLast: isLast)
                    return data
                case .none:
                    isAtLineStart = false
                    held = 0
                }
            }
            let rest = buffer[start...]
            guard let feed = rest.firstIndex(of: 0x0A) else {
                // A CR at the end may belong to the line end before a delimiter.
                let keepsReturn = rest.last == 0x0D && !isAtEnd
                certain = buffer.count - (keepsReturn ? 1 : 0)
                start = certain
                needsInput = true
                break
            }
            held = feed > from && buffer[feed - 1] == 0x0D ? 2 : 1
            start = feed + 1
            certain = start - held
            isAtLineStart = true
        }
        return data(from..<certain)
    }

    private func data(_ range: Range<Int>) -> Data? { stage == .preamble || range.isEmpty ? nil : Data(buffer[range]) }

    private mutating func endPart(at end: Int, isLast: Bool) {
        if stage == .body { ready.append(.end) }
        start = end
        held = 0
        fields = []
        stage = isLast ? .epilogue : .fields
        isAtLineStart = true
        if isLast { buffer = [] }
    }

    /// Compares the line at ``start`` with the delimiter.
    private func match() -> Match {
        let line = buffer[start...]
        guard line.count >= delimiter.count else {
            return !isAtEnd && delimiter.starts(with: line) ? .open : .none
        }
        guard line.starts(with: delimiter) else { return .none }
        var index = start + delimiter.count
        var isLast = false
        if index < buffer.count, buffer[index] == UInt8(ascii: "-") {
            if index + 1 >= buffer.count { return isAtEnd ? .none : .open }
            guard buffer[index + 1] == UInt8(ascii: "-") else { return .none }
            isLast = true
            index += 2
        }
        let padding = buffer[index...].prefix { $0 == 0x20 || $0 == 0x09 }
        guard padding.count <= Self.paddingLimit else { return .none }
        index = padding.endIndex
        guard index < buffer.count else {
            // The last delimiter needs no line end.
            return isAtEnd ? (isLast ? .delimiter(isLast: true, end: index) : .none) : .open
        }
        if buffer[index] == 0x0A { return .delimiter(isLast: isLast, end: index + 1) }
        guard buffer[index] == 0x0D else { return .none }
        guard index + 1 < buffer.count else {
            return isAtEnd ? (isLast ? .delimiter(isLast: true, end: index + 1) : .none) : .open
        }
        return buffer[index + 1] == 0x0A ? .delimiter(isLast: isLast, end: index + 2) : .none
    }

    // MARK: Fields

    private mutating func readFields() throws {
        needsInput = false
        while true {
            switch match() {
            case .open:
                needsInput = true
                return
            case .delimiter(let isLast, let end):
                begin()
                stage = .body
                return endPart(at: end, isLast: isLast)
            case .none:
                break
            }
            guard let feed = buffer[start...].firstIndex(of: 0x0A) else {
                needsInput = true
                return try checkFields(buffer.count - start)
            }
            let line = buffer[start...feed]
            try checkFields(line.count)
            let isBlank = line.count == 1 || (line.count == 2 && line.first == 0x0D)
            if !isBlank, isField(line) {
                fields.append(contentsOf: line)
                start = feed + 1
                continue
            }
            if isBlank { start = feed + 1 }
            begin()
            stage = .body
            isAtLineStart = true
            held = 0
            return
        }
    }

    /// Whether a line is a field or continues one.
    private func isField(_ line: ArraySlice<UInt8>) -> Bool {
        if let first = line.first, first == 0x20 || first == 0x09 { return !fields.isEmpty }
        let name = line.prefix { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
        return !name.isEmpty && name.endIndex < line.endIndex && line[name.endIndex] == UInt8(ascii: ":")
    }

    private func checkFields(_ more: Int) throws {
        guard fields.count + more > fieldLimit else { return }
        throw StreamError(
            .tooLarge, "the part's fields are larger than the limit of \(fieldLimit) bytes",
            at: StreamPlace(element: count + 1, byte: offset + start))
    }

    private mutating func begin() {
        count += 1
        ready.append(.begin(HTTPFields(HTTPFields.Lines(fields).fields)))
    }
}

extension MediaType {
    /// The boundary of a multipart type (RFC 2046 §5.1.1).
    ///
    /// - Throws: ``StreamError`` if the type isn't multipart, or the boundary is missing or longer than 70 characters.
    package func multipartBoundary() throws -> String {
        guard type == "multipart" else {
            throw StreamError(.format, "The body is \(essence), not multipart: read it in another way, or check the call.")
        }
        var boundary = self["boundary"] ?? ""
        while boundary.last == " " { boundary.removeLast() }
        guard !boundary.isEmpty, boundary.utf8.count <= 70 else {
            let fault = boundary.isEmpty ? "no boundary" : "a boundary of \(boundary.utf8.count) bytes"
            throw StreamError(.format, "The multipart type has \(fault); RFC 2046 §5.1.1 asks for 1 to 70 characters.")
        }
        return boundary
    }
}
