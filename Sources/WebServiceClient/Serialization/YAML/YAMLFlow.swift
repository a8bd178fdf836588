// Flow collections (YAML 1.2.2 §7.4).
extension YAMLParser {
    /// Reads a flow collection (YAML 1.2.2 §7.4) and writes it.
    mutating func readFlow() throws(YAMLSyntaxError) {
        let start = position
        try enter(at: start)
        let isMapping = byte == Byte.openBrace
        let close = isMapping ? Byte.closeBrace : Byte.closeBracket
        output.append(byte)
        position += 1
        var members = YAMLMembers()
        var isFirst = true
        while true {
            try skipFlowSpace(of: start)
            if byte == close { break }
            if !isMapping, !isFirst { output.append(Byte.comma) }
            isFirst = false
            if isMapping { try readFlowMember(&members, in: start) } else { try readFlowElement(in: start) }
            try skipFlowSpace(of: start)
            if byte == Byte.comma {
                position += 1
            } else if byte != close {
                throw error("a comma or the end of the collection is expected here", at: position)
            }
        }
        position += 1
        if isMapping { self.close(&members) } else { output.append(close) }
        leave()
    }

    private mutating func skipFlowSpace(of start: Int) throws(YAMLSyntaxError) {
        try skipSpace()
        guard !isAtEnd, !isAtMarker else { throw error("the collection has no end", at: start) }
    }

    private mutating func readFlowMember(_ members: inout YAMLMembers, in start: Int) throws(YAMLSyntaxError) {
        let place = position
        try checkIndicator()
        guard byte != Byte.openBracket, byte != Byte.openBrace else { throw error("a collection as a key isn't read", at: place) }
        let isQuoted = byte == Byte.quote || byte == Byte.apostrophe
        let key = byte == Byte.colon && !isPlainStart(inFlow: true) ? [] : try readFlowScalar()
        let begin = try begin(key, at: place, of: &members)
        try skipFlowSpace(of: start)
        if byte == Byte.colon, isQuoted || isSpace(at: position + 1) || isFlowIndicator(byte(at: position + 1)) {
            position += 1
            try readFlowValue(in: start)
        } else {
            write(null: ())
        }
        try end(key, at: place, begin, of: &members)
    }

    /// Reads the value after a colon or an anchor.
    private mutating func readFlowValue(in start: Int) throws(YAMLSyntaxError) {
        try skipFlowSpace(of: start)
        if byte == Byte.comma || byte == Byte.closeBrace || byte == Byte.closeBracket { return write(null: ()) }
        if byte == Byte.asterisk { return try readAlias() }
        if byte == Byte.ampersand { return try readFlowAnchored(in: start) }
        try checkIndicator()
        if byte == Byte.openBracket || byte == Byte.openBrace { return try readFlow() }
        let isPlain = byte != Byte.quote && byte != Byte.apostrophe
        write(try readFlowScalar(), isPlain: isPlain)
    }

    private mutating func readFlowAnchored(in start: Int) throws(YAMLSyntaxError) {
        let anchor = try beginAnchor()
        try readFlowValue(in: start)
        try endAnchor(anchor)
    }

    private mutating func readFlowElement(in start: Int) throws(YAMLSyntaxError) {
        let place = position
        if byte == Byte.asterisk { return try readAlias() }
        if byte == Byte.ampersand { return try readFlowAnchored(in: start) }
        try checkIndicator()
        if byte == Byte.openBracket || byte == Byte.openBrace {
            try readFlow()
            try skipFlowSpace(of: start)
            if byte == Byte.colon { throw error("a collection as a key isn't read", at: place) }
            return
        }
        let isPlain = byte != Byte.quote && byte != Byte.apostrophe
        let scalar = try readFlowScalar()
        let end = position
        try skipFlowSpace(of: start)
        let isPair = byte == Byte.colon && (!isPlain || isSpace(at: position + 1) || isFlowIndicator(byte(at: position + 1)))
        guard isPair else { return write(scalar, isPlain: isPlain) }
        guard !bytes[place..<end].contains(Byte.lineFeed) else { throw error("a key has one line", at: place) }
        // An element with a colon is a mapping with one key.
        position += 1
        output.append(Byte.openBrace)
        write(text: scalar)
        output.append(Byte.colon)
        try readFlowValue(in: start)
        output.append(Byte.closeBrace)
    }

    private mutating func readFlowScalar() throws(YAMLSyntaxError) -> [UInt8] {
        if byte == Byte.quote || byte == Byte.apostrophe { return try readQuoted() }
        guard isPlainStart(inFlow: true) else {
            throw error("a value can't begin with \(VisibleText.of(String(Character(Unicode.Scalar(byte))))): quote it", at: position)
        }
        var text = readPlainLine(inFlow: true)
        while true {
            let end = position
            var lineEnds = 0
            while byte == Byte.blank || byte == Byte.tab || byte == Byte.lineFeed {
                if byte == Byte.lineFeed { lineEnds += 1 }
                position += 1
            }
            let goesOn = lineEnds > 0 && !isAtEnd && !isAtMarker && byte != Byte.hash && !isFlowIndicator(byte)
            guard goesOn, !(byte == Byte.colon && (isSpace(at: position + 1) || isFlowIndicator(byte(at: position + 1)))) else {
                position = end
                return text
            }
            text += lineEnds == 1 ? [Byte.blank] : [UInt8](repeating: Byte.lineFeed, count: lineEnds - 1)
            text += readPlainLine(inFlow: true)
        }
    }
}
