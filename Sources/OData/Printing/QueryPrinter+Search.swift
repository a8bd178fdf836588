extension QueryPrinter {
    /// Words of ASCII letters and digits stand as they are; everything else is quoted, since services disagree on what else a
    /// word may hold, and `AND`, `OR` and `NOT` would be operators.
    func write(_ search: SearchTerm, to text: inout QueryText, depth: Int = 0) throws(ODataQueryError) {
        guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        switch search.kind {
        case .words(let words):
            try writeWords(words, to: &text)
        case .phrase(let phrase):
            guard phrase.contains(where: { !$0.isWhitespace }) else { throw .invalidSearch(phrase, reason: "it is empty") }
            try writeQuoted(phrase, to: &text)
        case .and(let terms):
            try writeChain(terms, isOr: false, to: &text, depth)
        case .or(let terms):
            try writeChain(terms, isOr: true, to: &text, depth)
        case .not(let operand):
            text.syntax("NOT ")
            try writeOperand(operand, isAtom: true, to: &text, depth)
        case .text(let typed):
            try require(.v401, "$search for text as it was typed")
            text.syntax("'")
            text.value(typed.replacing("'", with: "''"), keeping: QueryText.apostrophe)
            text.syntax("'")
        case .raw(let raw):
            guard !raw.isEmpty else { throw .invalidSearch(raw, reason: "it is empty") }
            text.raw(raw)
        case .invalid(let error):
            throw error
        }
    }

    private func writeChain(_ terms: [SearchTerm], isOr: Bool, to text: inout QueryText, _ depth: Int) throws(ODataQueryError) {
        guard !terms.isEmpty else { throw .invalidSearch("", reason: "\(isOr ? "OR" : "AND") has no terms") }
        for (index, term) in terms.enumerated() {
            if index > 0 { text.syntax(isOr ? " OR " : " AND ") }
            let needsParentheses =
                switch term.kind {
                case .or, .raw: true
                case .and: !isOr
                case .words, .phrase, .not, .text, .invalid: false
                }
            try writeOperand(term, isAtom: needsParentheses, to: &text, depth)
        }
    }

    private func writeOperand(
        _ operand: SearchTerm, isAtom: Bool, to text: inout QueryText, _ depth: Int
    ) throws(ODataQueryError) {
        let needsParentheses =
            switch operand.kind {
            case .words(let words): isAtom && words.split(whereSeparator: \.isWhitespace).count > 1
            case .phrase, .invalid: false
            case .and, .or, .not, .raw: isAtom
            case .text(let typed): throw .invalidSearch(typed, reason: "typed text can't be a part of an expression")
            }
        if needsParentheses { text.syntax("(") }
        try write(operand, to: &text, depth: depth + 1)
        if needsParentheses { text.syntax(")") }
    }

    private func writeWords(_ words: String, to text: inout QueryText) throws(ODataQueryError) {
        let parts = words.split(whereSeparator: \.isWhitespace)
        guard !parts.isEmpty else { throw .invalidSearch(words, reason: "it is empty") }
        for (index, word) in parts.enumerated() {
            if index > 0 { text.syntax(" ") }
            if SearchTerm.isPlain(word) {
                text.value(String(word))
            } else {
                try writeQuoted(String(word), to: &text)
            }
        }
    }

    private func writeQuoted(_ phrase: String, to text: inout QueryText) throws(ODataQueryError) {
        guard !phrase.unicodeScalars.contains("\"") else {
            throw .invalidSearch(phrase, reason: "OData can't search for a double quote; leave it out")
        }
        text.value("\"" + phrase.replacing("\\", with: "\\\\") + "\"")
    }
}
