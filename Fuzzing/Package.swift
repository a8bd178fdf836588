// swift-tools-version: 6.1

import PackageDescription

// Fuzz targets for every parser, on libFuzzer. They are a separate package, since they need flags that a dependency can't have. The script
// `run` in this folder builds and runs them.
let package = Package(
    name: "fuzzing",
    dependencies: [.package(name: "web-service-client", path: "..")],
    targets: [
        .executableTarget(
            name: "Fuzzer",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"), .product(name: "OData", package: "web-service-client"),
                .product(name: "RemoteLogger", package: "web-service-client"),
                .product(name: "HTTPTransport", package: "web-service-client"),
                .product(name: "ODataQueryParsing", package: "web-service-client"),
                .product(name: "ODataMetadata", package: "web-service-client"),
                .product(name: "WebServiceTesting", package: "web-service-client"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
    ]
)
