extension URITemplate {
    /// Parses a template, byte by byte (RFC 6570 section 2).
    struct Parser {
        private let text: String
        private let bytes: [UInt8]
        private var position = 0

        init(_ text: String) {
            self.text = text
            bytes = Array(text.utf8)
        }

        mutating func parse() throws(ParseError) -> [Part] {
            var parts: [Part] = []
            while position < bytes.count {
                if bytes[position] == Self.open {
                    parts.append(try expression())
                } else {
                    parts.append(.literal(try literal()))
                }
            }
            return parts
        }

        /// Parses a literal up to the next brace and encodes it for the result.
        private mutating func literal() throws(ParseError) -> [UInt8] {
            let start = position
            while position < bytes.count, bytes[position] != Self.open {
                if bytes[position] == Self.close { throw error(.strayBrace, at: position, from: position) }
                position += 1
            }
            var output: [UInt8] = []
            URLEncoding.appendRepaired(slice(start, position), to: &output, allowing: URITemplate.reservedAlphabet)
            return output
        }

        private mutating func expression() throws(ParseError) -> Part {
            let start = position
            guard let end = bytes[start...].firstIndex(of: Self.close) else { throw error(.unclosedBrace, at: start, from: start) }
            // Braces don't nest: the next closing brace belongs to the inner one.
            if bytes[(start + 1)..<end].contains(Self.open) { throw error(.unclosedBrace, at: start, from: start) }
            position = start + 1
            guard position < end else { throw error(.emptyExpression, at: position, from: start) }
            let kind = try takeOperator(before: end, from: start)
            guard position < end else { throw error(.emptyExpression, at: position, from: start) }
            var variables: [Variable] = []
            while true {
                variables.append(try variable(before: end, from: start))
                if position == end { break }
                position += 1  // The comma that ended the variable.
            }
            position = end + 1
            return .expression(kind, variables)
        }

        private mutating func takeOperator(before end: Int, from start: Int) throws(ParseError) -> Operator {
            let byte = bytes[position]
            if Self.isNameCharacter(byte) || byte == URLEncoding.percent { return .simple }
            if byte != 0, let kind = Operator(rawValue: byte) {
                position += 1
                return kind
            }
            let first = slice(position, end).first.map { String($0) } ?? ""
            throw error(.unknownOperator(first), at: position, from: start)
        }

        private mutating func variable(before end: Int, from start: Int) throws(ParseError) -> Variable {
            let comma = bytes[position..<end].firstIndex(of: UInt8(ascii: ",")) ?? end
            defer { position = comma }
            let nameStart = position
            var cursor = position
            var mayEnd = false
            scan: while cursor < comma {
                let byte = bytes[cursor]
                if Self.isNameCharacter(byte) {
                    cursor += 1
                    mayEnd = true
                } else if bytes.withUnsafeBufferPointer({ URLEncoding.isTriplet($0, at: cursor) }), cursor + 3 <= comma {
                    cursor += 3
                    mayEnd = true
                } else if byte == UInt8(ascii: "."), mayEnd {
                    cursor += 1
                    mayEnd = false
                } else {
                    break scan
                }
            }
            let modifierStarts = cursor < comma && (bytes[cursor] == UInt8(ascii: ":") || bytes[cursor] == UInt8(ascii: "*"))
            guard mayEnd, cursor == comma || modifierStarts else {
                throw error(.invalidName(slice(nameStart, comma)), at: cursor, from: start)
            }
            let name = slice(nameStart, cursor)
            guard cursor < comma else { return Variable(name: name, modifier: .none) }
            if bytes[cursor] == UInt8(ascii: "*") {
                guard cursor + 1 == comma else { throw error(.invalidName(slice(nameStart, comma)), at: cursor + 1, from: start) }
                return Variable(name: name, modifier: .explode)
            }
            let digits = bytes[(cursor + 1)..<comma]
            let zero = UInt8(ascii: "0")
            guard (1...4).contains(digits.count), digits.first != zero, digits.allSatisfy({ (zero...zero + 9).contains($0) }) else {
                throw error(.invalidPrefix(slice(cursor + 1, comma)), at: cursor + 1, from: start)
            }
            return Variable(name: name, modifier: .prefix(digits.reduce(0) { $0 * 10 + Int($1 - zero) }))
        }

        private static let open = UInt8(ascii: "{")
        private static let close = UInt8(ascii: "}")

        private static func isNameCharacter(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "_") || URLEncoding.Alphabet.alphanumeric.contains(byte)
        }

        private func slice(_ start: Int, _ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }

        private func error(_ reason: ParseError.Reason, at position: Int, from start: Int) -> ParseError {
            let rest = bytes[start...]
            let end = rest.firstIndex(of: Self.close).map { $0 + 1 } ?? bytes.count
            // The number of characters before the position; a position inside a character counts as that character.
            let column = slice(0, position).count + 1
            return ParseError(reason: reason, template: text, expression: slice(start, end), column: column)
        }
    }
}

extension URITemplate {
    /// The reason why a text isn't a URI template: the place, the fault and what is expected there.
    public struct ParseError: DescribedError, Hashable, Sendable {
        /// The kinds of faults.
        public enum Reason: Hashable, Sendable {
            /// A `{` without its `}`.
            case unclosedBrace
            /// A `}` without its `{`.
            case strayBrace
            /// `{}`, or an operator with no name after it.
            case emptyExpression
            /// An operator that RFC 6570 reserves, or a character that is neither an operator nor part of a name.
            case unknownOperator(String)
            /// A name that is empty or has a character that isn't allowed in names.
            case invalidName(String)
            /// A prefix that isn't a number from 1 to 9999 without a leading zero.
            case invalidPrefix(String)
        }

        /// The kind of fault.
        public let reason: Reason
        /// The whole template.
        public let template: String
        /// The expression with the fault, including the braces that it has.
        public let expression: String
        /// The place, as a number of characters from 1.
        public let column: Int

        /// The expected text at the place.
        public var expected: String {
            switch reason {
            case .unclosedBrace: "a \"}\" that closes the expression"
            case .strayBrace: "a \"{\" before it, or \"%7D\" for the character itself"
            case .emptyExpression: "a variable name such as {name} or {?name}"
            case .unknownOperator: "one of the operators + # . / ; ? & or a variable name"
            case .invalidName: "a name of letters, digits, \"_\", %XX and single dots between them"
            case .invalidPrefix: "a length from 1 to 9999 after the colon, as in {name:3}"
            }
        }

        /// A sentence with all of these.
        public var description: String {
            let fault =
                switch reason {
                case .unclosedBrace: "the \"{\" is never closed"
                case .strayBrace: "the \"}\" closes nothing"
                case .emptyExpression: "the expression names no variable"
                case .unknownOperator(let character): "\"\(character)\" isn't an operator"
                case .invalidName(let name): name.isEmpty ? "a name is missing" : "\"\(name)\" isn't a variable name"
                case .invalidPrefix(let length): "\"\(length)\" isn't a prefix length"
                }
            return "URI template \"\(template)\", column \(column): \(fault) in \"\(expression)\"; expected \(expected)."
        }
    }

    /// The reason why a template can't be expanded with the given values.
    public struct ExpansionError: DescribedError, Hashable, Sendable {
        /// The variable with a prefix whose value is a list or a map.
        public let variable: String
        /// The whole template.
        public let template: String

        /// A sentence with the variable and the fix, without any value.
        public var description: String {
            "URI template \"\(template)\": \"\(variable)\" has a prefix, but its value is a list or a map, which has none;"
                + " give a string, or remove the prefix."
        }
    }
}
