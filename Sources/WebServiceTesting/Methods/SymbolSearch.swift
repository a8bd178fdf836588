import WebServiceClient

/// Finds the methods of classes in the symbol tables of this process's files.
struct SymbolSearch {
    /// A method of a class.
    struct Method {
        let signature: MethodSignature
        /// The types of the parameters; `nil` for a parameter without a concrete type, such as a generic one.
        let parameters: [(any Any.Type)?]
        /// The type of the result.
        let result: (any Any.Type)?
        /// Whether the method's code contains the method's name as a text; `nil` if the code can't be read.
        let usesOwnName: Bool?
    }

    /// The methods of a class in the files.
    struct Methods {
        var methods: [Method] = []
        var completeness = MethodList.Completeness.complete
    }

    /// A class and the prefix of its symbols.
    private struct Target {
        let type: AnyClass
        /// The index of the file that has the class.
        let file: Int
        let prefix: String
        /// The prefix of the names in the class's module.
        let module: String
    }

    let files: [LoadedFile]
    /// Why some files can't be read.
    let problems: [String]
    /// Whether the files are treated as optimized ones, even without an indication in them.
    let isOptimized: Bool

    #if DEBUG
    private static let isRelease = false
    #else
    private static let isRelease = true
    #endif

    /// Searches the files of this process.
    init() {
        let (files, problems) = LoadedFile.all()
        self.init(files: files, problems: problems)
    }

    init(files: [LoadedFile], problems: [String] = [], isOptimized: Bool = isRelease) {
        (self.files, self.problems, self.isOptimized) = (files, problems, isOptimized)
    }

    /// Returns the methods of some classes, without those of their superclasses, in the order of the classes.
    func methods(of types: [AnyClass]) -> [Methods] {
        let targets = types.map(target)
        let known = targets.compactMap(\.self)
        let classes = Set(known.map(\.prefix))
        let prefixes = (classes.sorted() + Set(known.map(\.module)).sorted()).sorted { $0.utf8.count > $1.utf8.count }
        var found: [String: [(symbol: ObjectFile.Symbol, file: Int)]] = [:]
        var optimized: Set<Int> = []
        for (index, loaded) in files.enumerated() {
            loaded.file.forEachSymbol(beginningWith: prefixes) { symbol, prefix in
                if Self.isOfOptimizer(symbol.name) { optimized.insert(index) }
                if classes.contains(prefixes[prefix]) { found[prefixes[prefix], default: []].append((symbol, index)) }
            }
        }
        var resolver = TypeResolver()
        return zip(types, targets).map { type, target in
            guard let target else {
                return Methods(completeness: .unreadable(missing(type)))
            }
            return Methods(
                methods: methods(of: target, in: found[target.prefix] ?? [], &resolver),
                completeness: completeness(of: target, isOptimized: isOptimized || optimized.contains(target.file)))
        }
    }

    private func missing(_ type: AnyClass) -> String {
        let reasons = problems.isEmpty ? "" : ": " + problems.joined(separator: "; ")
        return "the symbol of \(type) isn't in any of the process's \(files.count) readable files\(reasons)"
    }

    private func completeness(of target: Target, isOptimized: Bool) -> MethodList.Completeness {
        let loaded = files[target.file]
        if !loaded.file.hasLocalSymbols {
            let sentence = "\(loaded.path) is stripped of its symbols"
            return loaded.file.isProgram || loaded.file.tables.isEmpty
                ? .unreadable(sentence + "; link it without -s, and don't run strip on it") : .publicOnly(sentence)
        }
        if isOptimized {
            return .publicOnly("\(loaded.path) is built with optimization, which removes methods that aren't public")
        }
        #if canImport(Darwin)
        // Not tried yet. Linkers on this platform remove unused code, in debug builds too.
        return .publicOnly("\(loaded.path) may have been linked without methods that aren't used")
        #else
        return .complete
        #endif
    }

    /// Finds the file of a class and the beginning of its symbols.
    private func target(_ type: AnyClass) -> Target? {
        guard let descriptor = TypeDescriptor(of: type), let file = files.firstIndex(where: { $0.contains(descriptor.address) }),
            let mangled = _mangledTypeName(type)
        else { return nil }
        let module = "$s" + Self.module(of: mangled)
        // The name of a generic class contains its arguments. The name of a private class contains the address of its private context, but
        // its symbols don't.
        if !descriptor.isGeneric, !mangled.contains("$") {
            return Target(type: type, file: file, prefix: "$s" + mangled, module: module)
        }
        let address = UInt64(descriptor.address) &- files[file].bias
        var prefix: String?
        files[file].file.forEachSymbol(beginningWith: [module]) { symbol, _ in
            if symbol.address == address, symbol.name.hasSuffix("Mn") { prefix = String(symbol.name.dropLast(2)) }
        }
        // Without local symbols, the class has no name; the state of the file gives the reason.
        return Target(type: type, file: file, prefix: prefix ?? "$s" + mangled, module: module)
    }

    /// Returns the first identifier of a mangled name, with its length; an empty text if the name doesn't begin with one.
    private static func module(of mangled: String) -> String {
        let digits = mangled.prefix { $0.isASCII && $0.isNumber }
        guard let length = Int(digits), length > 0, length < 1000 else { return "" }
        return String(digits + mangled.dropFirst(digits.count).prefix(length))
    }

    /// Returns the text of the class or type in the name of a descriptor.
    private static func nominalType(_ symbol: String) -> String? {
        let introduction = "nominal type descriptor for "
        guard let text = Demangler.text(of: symbol), text.hasPrefix(introduction) else { return nil }
        return String(text.dropFirst(introduction.count))
    }

    /// Returns whether only an optimizer makes functions with such a name: specializations, merged functions, outlined constants.
    private static func isOfOptimizer(_ name: String) -> Bool {
        name.hasSuffix("Tg5") || name.hasSuffix("Tm") || name.hasSuffix("Tv_") || name.hasSuffix("Tf4n_n")
    }

    private func methods(
        of target: Target, in found: [(symbol: ObjectFile.Symbol, file: Int)], _ resolver: inout TypeResolver
    ) -> [Method] {
        guard let owner = Self.nominalType(target.prefix + "Mn") else { return [] }
        // The names of the parts of an asynchronous method, and of closures, begin with the method's name.
        let sorted = found.sorted { ($0.symbol.name, $0.file) < ($1.symbol.name, $1.file) }
        let addresses = sorted.map(\.symbol.address).sorted()
        let references = files.map { CodeReferences(file: $0.file) }
        var methods: [Method] = []
        var seen: Set<MethodSignature> = []
        for (index, entry) in sorted.enumerated() {
            guard entry.symbol.name.hasSuffix("F") || entry.symbol.name.hasSuffix("vg"), let text = Demangler.text(of: entry.symbol.name),
                let signature = MethodSignature(text, of: owner), seen.insert(signature).inserted
            else { continue }
            let parts = sorted[index...].prefix { $0.symbol.name.hasPrefix(entry.symbol.name) }.filter { $0.file == entry.file }
            let code = parts.map { (address: $0.symbol.address, size: Self.size(of: $0.symbol, addresses)) }
            methods.append(
                Method(
                    signature: signature, parameters: signature.parameters.map { resolver.type(named: $0) },
                    result: resolver.type(named: signature.result),
                    usesOwnName: references[entry.file].uses(signature.name.description, in: code)))
        }
        return methods
    }

    /// Returns the size of a function: up to the class's next symbol, if the file doesn't contain it. A few bytes of another function have
    /// no effect, since a method's name rarely occurs elsewhere.
    private static func size(of symbol: ObjectFile.Symbol, _ addresses: [UInt64]) -> UInt64 {
        if symbol.size > 0 { return symbol.size }
        var (low, high) = (0, addresses.count)
        while low < high {
            let middle = (low + high) / 2
            if addresses[middle] > symbol.address { high = middle } else { low = middle + 1 }
        }
        return min(low < addresses.count ? addresses[low] - symbol.address : 4096, 4096)
    }
}
