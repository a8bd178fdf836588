import Foundation

extension QueryPrinter {
    /// A query that is to be sent. Arguments of functions that can't stand in a path are said by aliases.
    ///
    /// - Throws: ``ODataQueryError`` where a part can't be said, or an alias in the path has no value: a service would take it for null.
    func request(_ query: ODataQuery) throws(ODataQueryError) -> String {
        let asked = query.withoutUselessSelection(version)
        let query = version == .v2 ? asked : asked.aliasingArguments(by: self)
        if let name = query.resource.aliasNames.first(where: { name in !query.options.aliases.contains { $0.name == name } }) {
            throw .invalidOption("@\(name)", reason: "the path has it, and it has no value; give it one by alias(_:_:)")
        }
        return try text(of: query)
    }
}

extension ODataQuery {
    /// The query without a selection that nobody asked for where services refuse it: of a raw value, a count or references, and in version 2 of
    /// what a function gives.
    fileprivate func withoutUselessSelection(_ version: ODataVersion) -> ODataQuery {
        guard options.selection == .decoded else { return self }
        let isUseless =
            switch resource.segments.last {
            case .value, .count, .ref, .metadata, .batch: true
            case .raw(let text):
                ["$value", "$count", "$ref", "$metadata", "$batch"].contains(text.split(separator: "/").last ?? "")
            default: false
            }
        let isOfFunction = version == .v2 && resource.segments.contains { if case .function = $0 { true } else { false } }
        guard isUseless || isOfFunction else { return self }
        var copy = self
        copy.options.selection = .all
        return copy
    }

    /// Values with a structure, and whatever else isn't a literal, stand in the query: `Best(of=@arg)?@arg=[…]` (URL Conventions, section 4.5.1).
    fileprivate func aliasingArguments(by printer: QueryPrinter) -> ODataQuery {
        guard resource.segments.contains(where: { if case .function = $0 { true } else { false } }) else { return self }
        var copy = self
        var taken: Set<String>?
        for (position, segment) in resource.segments.enumerated() {
            guard case .function(let name, var parameters) = segment else { continue }
            for index in parameters.indices {
                switch parameters[index].value.kind {
                case .literal, .invalid, .raw: continue
                case .path(let path):
                    if case .alias = path.root, path.segments.isEmpty { continue }
                default: break
                }
                let names = taken ?? mentionedAliases(by: printer)
                taken = names
                let alias = copy.options.freeAlias("arg", besides: names)
                copy.options.aliases.append(ParameterAlias(alias, parameters[index].value))
                parameters[index].value = .path(QueryPath(root: .alias(alias), segments: []))
            }
            copy.resource.segments[position] = .function(name, parameters)
        }
        return copy
    }

    /// The aliases that stand anywhere in the query, be it without a value: a service takes those for null, not for an argument of another place.
    private func mentionedAliases(by printer: QueryPrinter) -> Set<String> {
        var names = Set(resource.aliasNames)
        // As they are printed, so that those in raw text are seen as well; what can't be printed is an error anyway.
        func note(_ text: String?) {
            for part in (text ?? "").unicodeScalars.split(separator: "@", omittingEmptySubsequences: false).map(String.init).dropFirst() {
                let text = part.removingPercentEncoding ?? part
                names.insert(String(text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
            }
        }
        note(try? printer.text(of: options))
        for segment in resource.segments {
            switch segment {
            case .raw(let text): note(text)
            case .filter(let condition): note(try? printer.text(of: condition))
            case .function(_, let parameters): for parameter in parameters { note(try? printer.text(of: parameter.value)) }
            default: continue
            }
        }
        return names
    }
}

extension ResourcePath {
    /// The parameter aliases that keys and functions in the path name. Those in the expression of a `$filter(…)` segment don't count: without a
    /// value a service takes them for null.
    fileprivate var aliasNames: [String] {
        var names: [String] = []
        for segment in segments {
            switch segment {
            case .key(let parts):
                for part in parts { if case .alias(let name) = part.value { names.append(name) } }
            case .function(_, let parameters):
                for parameter in parameters {
                    if case .path(let path) = parameter.value.kind, case .alias(let name) = path.root { names.append(name) }
                }
            default: continue
            }
        }
        return names
    }
}
