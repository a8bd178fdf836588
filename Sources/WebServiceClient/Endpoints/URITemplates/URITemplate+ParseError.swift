extension URITemplate {
    /// Why a text is no URI template: where, what, and what would be right there.
    public struct ParseError: DescribedError, Hashable, Sendable {
        /// The kinds of fault.
        public enum Reason: Hashable, Sendable {
            /// A `{` without its `}`.
            case unclosedBrace
            /// A `}` without its `{`.
            case strayBrace
            /// `{}`, or an operator with no name after it.
            case emptyExpression
            /// An operator that RFC 6570 reserves for later, or a character that is neither operator nor name.
            case unknownOperator(String)
            /// A name that is empty or holds a character that names can't have.
            case invalidName(String)
            /// A prefix that isn't a number from 1 to 9999 without a leading zero.
            case invalidPrefix(String)
        }

        /// The kind of fault.
        public let reason: Reason
        /// The whole template.
        public let template: String
        /// The expression it happened in, with its braces as far as they go.
        public let expression: String
        /// Where, as a count of characters from 1.
        public let column: Int

        /// What would be right there.
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

        /// One sentence with all of that.
        public var description: String {
            let fault =
                switch reason {
                case .unclosedBrace: "the \"{\" is never closed"
                case .strayBrace: "the \"}\" closes nothing"
                case .emptyExpression: "the expression names no variable"
                case .unknownOperator(let character): "\"\(character)\" is no operator"
                case .invalidName(let name): name.isEmpty ? "a name is missing" : "\"\(name)\" is no variable name"
                case .invalidPrefix(let length): "\"\(length)\" is no prefix length"
                }
            return "URI template \"\(template)\", column \(column): \(fault) in \"\(expression)\"; expected \(expected)."
        }
    }

    /// Why a template can't be expanded with the values given.
    public struct ExpansionError: DescribedError, Hashable, Sendable {
        /// The variable that asks for a prefix of a list or a map.
        public let variable: String
        /// The whole template.
        public let template: String

        /// One sentence that names the variable and the fix; it holds no value.
        public var description: String {
            "URI template \"\(template)\": \"\(variable)\" asks for a prefix, but its value is a list or a map, which has none;"
                + " give a string, or remove the prefix."
        }
    }
}
