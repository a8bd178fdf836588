import OData

extension BinaryOperator {
    private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// Returns the operator for a word, in any letter case, as 4.01 services read it.
    fileprivate static func word(_ word: String) -> BinaryOperator? {
        named[word] ?? named[word.lowercased()]
    }

    /// The precedence of the operator (URL Conventions, section 5.1.1.14).
    fileprivate var strength: Int {
        switch self {
        case .or: 1
        case .and: 2
        case .equal, .notEqual: 3
        case .less, .lessOrEqual, .greater, .greaterOrEqual: 4
        case .add, .subtract: 5
        case .multiply, .divide, .divideBy, .modulo: 6
        case .has, .isIn: 8
        }
    }
}

extension QueryReader {
    private static let unaryStrength = 7

    /// Reads an expression whose operators have at least the given precedence.
    mutating func expression(_ strength: Int = 1) throws(QueryParsingError) -> QueryExpression {
        try descend()
        defer { depth -= 1 }
        var left = try operand()
        while let (operation, end) = nextOperator(), operation.strength >= strength {
            try countOne()
            index = end
            if operation == .isIn {
                left = try membership(of: left)
            } else {
                left = .binary(operation, left, try expression(operation.strength + 1))
            }
            try check(height: left.node.height)
        }
        try check(height: left.node.height)
        return left
    }

    /// Returns the next operator between blanks, and the start of its right operand.
    private func nextOperator() -> (BinaryOperator, Int)? {
        var copy = self.index
        while copy < bytes.count, bytes[copy] == 0x20 || bytes[copy] == 0x09 { copy += 1 }
        guard copy > index else { return nil }
        var end = copy
        while isWordByte(at: end) { end += 1 }
        guard end > copy, let operation = BinaryOperator.word(String(decoding: bytes[copy..<end], as: UTF8.self)) else { return nil }
        var right = end
        while right < bytes.count, bytes[right] == 0x20 || bytes[right] == 0x09 { right += 1 }
        return right > end ? (operation, right) : nil
    }

    private mutating func operand() throws(QueryParsingError) -> QueryExpression {
        // Services accept `not(…)` too, although the grammar demands a blank.
        if nextWord.lowercased() == "not", let behind = byteBehindWord, behind == 0x20 || behind == 0x09 || behind == 0x28 {
            index += 3
            skipBlanks()
            return .unary(.not, try expression(Self.unaryStrength))
        }
        if isNext("-"), !isLiteralSign {
            index += 1
            skipBlanks()
            return .unary(.negate, try expression(Self.unaryStrength))
        }
        return try primary()
    }

    /// A Boolean value that indicates whether the sign belongs to a literal.
    private var isLiteralSign: Bool {
        guard let next = byte(1) else { return false }
        if (0x30...0x39).contains(next) { return true }
        return isNext("-INF") && !isWordByte(at: index + 4)
    }

    mutating func primary() throws(QueryParsingError) -> QueryExpression {
        guard let next = byte() else { throw expected("an expression") }
        switch next {
        case UInt8(ascii: "("):
            index += 1
            skipBlanks()
            let inner = try expression()
            skipBlanks()
            try expect(")")
            return inner
        case UInt8(ascii: "'"):
            return .literal(.string(try string()))
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            return try json()
        case UInt8(ascii: "$"), UInt8(ascii: "@"):
            return try path()
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"):
            return .literal(try numberLike())
        default:
            if let guid = guid() { return .literal(guid) }
            guard isAtName else { throw expected("an expression") }
            return try named()
        }
    }

    /// Reads a part that begins with a name: a keyword, a literal with a prefix, a function or a path.
    private mutating func named() throws(QueryParsingError) -> QueryExpression {
        let start = index
        let name = try qualifiedName("a name")
        switch byte() {
        case UInt8(ascii: "'"):
            return .literal(try prefixed(name))
        case UInt8(ascii: "("):
            switch name.lowercased() {
            case "case": return try conditional()
            case "cast", "isof": return try typed(isCast: name.lowercased() == "cast")
            case "substringof" where version == .v2: return try call("substringof", 2...2, at: start)
            default: break
            }
            if let function = CanonicalFunction.folded(name), function.through.map({ version <= $0 }) ?? true {
                return try call(function.name, function.arity, at: start)
            }
        case UInt8(ascii: "/"):
            break
        default:
            if let keyword = Self.keyword(name), !variables.contains(where: { $0.name == name }) { return .literal(keyword) }
        }
        index = start
        return try path()
    }

    private static func keyword(_ name: String) -> EdmValue? {
        switch name {
        case "null": .null
        case "INF": .double(.infinity)
        case "NaN": .double(.nan)
        default:
            switch name.lowercased() {
            case "true": .boolean(true)
            case "false": .boolean(false)
            default: nil
            }
        }
    }

    /// Reads the right operand of `in`.
    private mutating func membership(of operand: QueryExpression) throws(QueryParsingError) -> QueryExpression {
        if isNext("(") {
            let start = index
            index += 1
            skipBlanks()
            if skip(")") { return .membership(operand, []) }
            // Tries a literal instead of an expression, which would be read twice, and nested ones many times.
            if let first = try? literal() {
                var values = [first]
                skipBlanks()
                while skip(",") {
                    skipBlanks()
                    try countOne()
                    guard case .literal(let value) = try primary().kind else { throw expected("a literal") }
                    values.append(value)
                    skipBlanks()
                }
                if skip(")") { return .membership(operand, values) }
            }
            index = start
        }
        let right = try expression(9)
        guard case .array(let items) = right.kind else { return .binary(.isIn, operand, right) }
        var values: [EdmValue] = []
        for item in items {
            guard case .literal(let value) = item.kind else { return .binary(.isIn, operand, right) }
            values.append(value)
        }
        return .membership(operand, values)
    }
}

/// Functions with unnamed arguments.
extension QueryReader {
    mutating func call(_ name: String, _ arity: ClosedRange<Int>, at start: Int) throws(QueryParsingError) -> QueryExpression {
        try expect("(")
        skipBlanks()
        var arguments: [QueryExpression] = []
        if !isNext(")") { arguments = try list { reader throws(QueryParsingError) in try reader.expression() } }
        skipBlanks()
        guard arity.contains(arguments.count) else {
            let needed = arity.count == 1 ? "\(arity.lowerBound)" : "\(arity.lowerBound) to \(arity.upperBound)"
            throw expected("\(needed) arguments of \(name)", at: arguments.count > arity.upperBound ? start : nil)
        }
        try expect(")")
        if name == "substringof" { return .call("contains", arguments.reversed()) }
        return .call(name, arguments)
    }

    mutating func typed(isCast: Bool) throws(QueryParsingError) -> QueryExpression {
        try expect("(")
        skipBlanks()
        let start = index
        if let type = try? typeName() {
            skipBlanks()
            if skip(")") { return isCast ? .cast(nil, type) : .isOf(nil, type) }
        }
        index = start
        let operand = try expression()
        skipBlanks()
        try expect(",")
        skipBlanks()
        let type = try typeName()
        skipBlanks()
        try expect(")")
        return isCast ? .cast(operand, type) : .isOf(operand, type)
    }

    mutating func conditional() throws(QueryParsingError) -> QueryExpression {
        try expect("(")
        skipBlanks()
        let branches = try list { reader throws(QueryParsingError) in
            let condition = try reader.expression()
            reader.skipBlanks()
            try reader.expect(":")
            reader.skipBlanks()
            return QueryExpression.Branch(when: condition, try reader.expression())
        }
        skipBlanks()
        try expect(")")
        return .conditional(branches)
    }
}
